// A world behind HTTPS on its own thread, and kubectl run against it as a person would. Time runs
// twenty times as fast, so that pods start at once.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/sandbox/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace millwright::sandbox {

struct Output {
  int exit_code = -1;
  std::string output;  // both streams
  std::string line(std::size_t index) const;
  // Column of a table row by header name: kubectl's columns are three spaces apart.
  std::string cell(std::size_t row, const std::string& header) const;
};

// A kubectl that keeps printing (get -w); ended with the object.
class KubectlStream {
 public:
  explicit KubectlStream(const std::string& arguments);
  ~KubectlStream();
  KubectlStream(const KubectlStream&) = delete;
  KubectlStream& operator=(const KubectlStream&) = delete;
  // Waits for it; empty at the end.
  std::string next_line();

 private:
  FILE* pipe_ = nullptr;
  pid_t pid_ = 0;
};

class KubectlFixture : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  // kubectl <arguments>, with `input` on its standard input. Arguments go through the shell.
  static Output kubectl(const std::string& arguments, const std::string& input = {});
  // Runs on the loop's thread and waits for it.
  static void on_loop(const std::function<void(World&)>& work);
  static void launch_node(const std::string& name, const std::string& cpu = "8");
  static std::string directory();
  // What comes before the arguments: environment, program, cache.
  static std::string command();

 private:
  friend class KubectlStream;
  struct Cluster;
  static std::unique_ptr<Cluster> cluster_;
};

std::string deployment_yaml(const std::string& name, int replicas,
                            const std::string& image = "a:1");

}  // namespace millwright::sandbox
