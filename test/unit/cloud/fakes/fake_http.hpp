// A cloud's API that is a function: answers requests on a virtual loop and remembers them. A
// machine that is made up, and waiting for tasks.
#pragma once

#include "cloud/common/environment.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace millwright::cloud {

inline constexpr base::TimePoint kStart{std::chrono::sys_days{std::chrono::year_month_day{
    std::chrono::year{2026}, std::chrono::month{1}, std::chrono::day{2}}}};

class FakeHttp final : public net::Client {
 public:
  using Handler = std::function<base::Result<net::Response>(const net::ClientRequest&)>;
  explicit FakeHttp(base::Loop& loop) : loop_(loop) {}

  base::Task<base::Result<net::Response>> send(net::ClientRequest request,
                                               std::stop_token stop) override {
    requests.push_back(request);
    times.push_back(loop_.now());
    // It arrives half way, also when nobody waits for the answer any more.
    const auto answer = std::make_shared<std::optional<base::Result<net::Response>>>();
    loop_.after(delay / 2, [this, answer, request] { answer->emplace(handler(request)); });
    co_await base::sleep(loop_, delay, stop);
    if (stop.stop_requested() || !*answer) {
      co_return base::fail(base::ErrorKind::Cancelled, "stopped");
    }
    co_return **answer;
  }
  base::Task<base::Result<net::Response>> stream(net::ClientRequest /*request*/,
                                                 std::function<void(std::string_view)> /*chunk*/,
                                                 std::stop_token /*stop*/) override {
    co_return base::fail(base::ErrorKind::Internal, "no streams here");
  }
  base::Result<net::Response> send_blocking(net::ClientRequest request) override {
    return handler(request);
  }

  // Answers the requests one after the other; the last answer is repeated.
  void script(std::vector<base::Result<net::Response>> answers) {
    handler = [answers, at = std::size_t{0}](const net::ClientRequest&) mutable {
      const auto& answer = answers[std::min(at, answers.size() - 1)];
      ++at;
      return answer;
    };
  }

  Handler handler = [](const net::ClientRequest& request) {
    return net::Response::text(500, "nobody expected " + request.url);
  };
  base::Duration delay = std::chrono::milliseconds(10);
  std::vector<net::ClientRequest> requests;
  std::vector<base::TimePoint> times;

 private:
  base::Loop& loop_;
};

// Runs the loop until the task has ended, at most an hour of its time.
template <class T>
T wait(base::VirtualLoop& loop, base::Task<T> task) {
  std::optional<T> answer;
  base::TaskGroup group(loop);
  struct Run {
    static base::Task<void> keep(base::Task<T> inner, std::optional<T>& out) {
      auto value = co_await std::move(inner);
      out.emplace(std::move(value));
    }
  };
  group.spawn(Run::keep(std::move(task), answer));
  loop.run_until([&] { return answer.has_value(); }, std::chrono::hours(1));
  if (!answer) {
    throw std::runtime_error("the task did not end within an hour");
  }
  return *std::move(answer);
}

// Variables and files of a made-up machine.
struct FakeMachine {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;

  ProcessEnvironment environment() {
    return {
        .variable = [this](const std::string& name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        },
        .read_file = [this](const std::string& path) -> base::Result<std::string> {
          const auto found = files.find(path);
          if (found == files.end()) {
            return base::fail(base::ErrorKind::NotFound, "cannot read " + path);
          }
          return found->second;
        },
        .write_file = [this](const std::string& path, const std::string& text) -> base::Result<> {
          files[path] = text;
          return {};
        }};
  }
};

// A file of test/data, by its path there.
inline std::string read_data_file(const std::string& path) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

}  // namespace millwright::cloud
