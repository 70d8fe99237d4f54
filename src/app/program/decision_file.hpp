// Where decisions are written line by line (--decision-log): a file or standard output. One thread.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/result.hpp"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

class DecisionFile {
 public:
  static constexpr std::size_t kLargest = 64U << 20;

  // "-" is standard output. `log` hears once when lines begin to be lost, and when that is over. A
  // file is written on at its end; when it would grow beyond `largest`
  // bytes it becomes PATH.1, in place of an older one, and another is begun.
  static base::Result<std::shared_ptr<DecisionFile>> open(std::string path, base::Logger log,
                                                          std::size_t largest = kLargest);
  ~DecisionFile();
  DecisionFile(const DecisionFile&) = delete;
  DecisionFile& operator=(const DecisionFile&) = delete;

  // Writes the line and its end. Decisions are made whether they can be written or not: what the
  // disk does not take is lost, and counted. A file that could not be begun is tried again.
  void write(std::string_view line);
  std::size_t lost() const { return lost_; }

 private:
  DecisionFile(std::string path, base::Logger log, std::size_t largest)
      : path_(std::move(path)), log_(std::move(log)), largest_(largest) {}
  bool is_stdout() const { return path_ == "-"; }
  base::Result<> begin();
  void begin_another();
  base::Result<> put(const std::string& text);

  const std::string path_;
  const base::Logger log_;
  const std::size_t largest_;
  std::FILE* file_ = nullptr;
  std::size_t size_ = 0;
  std::size_t lost_ = 0;
  bool losing_ = false;  // the newest line was lost
};

}  // namespace millwright::app
