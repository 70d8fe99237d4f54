#include "app/program/decision_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace millwright::app {

base::Result<std::shared_ptr<DecisionFile>> DecisionFile::open(std::string path, base::Logger log,
                                                               std::size_t largest) {
  std::shared_ptr<DecisionFile> file(new DecisionFile(std::move(path), std::move(log), largest));
  if (auto begun = file->begin(); !begun) {
    return tl::unexpected(std::move(begun).error());
  }
  return file;
}

DecisionFile::~DecisionFile() {
  if (file_ != nullptr && !is_stdout()) {
    std::fclose(file_);
  }
}

base::Result<> DecisionFile::begin() {
  if (is_stdout()) {
    file_ = stdout;
    return {};
  }
  file_ = std::fopen(path_.c_str(), "ae");
  if (file_ == nullptr) {
    return base::fail(base::ErrorKind::Denied,
                      "--decision-log: cannot write " + path_ + ": " +
                          std::generic_category().message(errno) +
                          "; name a file in a folder that may be written to, or - for stdout");
  }
  std::error_code unknown;  // of a size, such as that of a pipe
  const auto size = std::filesystem::file_size(path_, unknown);
  size_ = unknown ? 0 : static_cast<std::size_t>(size);
  return {};
}

void DecisionFile::begin_another() {
  std::fclose(file_);
  file_ = nullptr;
  std::error_code failed;  // then the file grows on
  std::filesystem::rename(path_, path_ + ".1", failed);
}

base::Result<> DecisionFile::put(const std::string& text) {
  if (!is_stdout() && file_ != nullptr && size_ > 0 && size_ + text.size() > largest_) {
    begin_another();
  }
  if (file_ == nullptr) {
    if (auto begun = begin(); !begun) {
      return begun;
    }
  }
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) {
    const std::string reason = std::generic_category().message(errno);
    std::clearerr(file_);
    return base::fail(base::ErrorKind::Unavailable,
                      "--decision-log: cannot write " + path_ + ": " + reason);
  }
  size_ += text.size();
  return {};
}

void DecisionFile::write(std::string_view line) {
  const auto written = put(std::string(line).append("\n"));
  lost_ += written ? 0 : 1;
  if (!written && !losing_) {
    log_.error("decisions are not recorded", {{"error", written.error().message}});
  } else if (written && losing_) {
    log_.info("decisions are recorded again", {{"lost", std::to_string(lost_)}});
  }
  losing_ = !written;
}

}  // namespace millwright::app
