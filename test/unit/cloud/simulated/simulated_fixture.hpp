// A simulated cloud on a virtual loop, and small builders of what it is asked with.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/cloud/simulated.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud {

inline constexpr base::TimePoint kSimulatedStart{std::chrono::hours(24) * 20000};

inline model::SelectorRequirement one_of(std::string_view key, std::vector<std::string> values) {
  return {.key = std::string(key), .op = model::Operator::In, .values = std::move(values)};
}

inline std::shared_ptr<model::NodeClaim> claim(std::string name,
                                               std::vector<model::SelectorRequirement> needs = {}) {
  auto result = std::make_shared<model::NodeClaim>();
  result->meta.name = name;
  result->meta.uid = "uid-" + name;
  result->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
  result->requirements = std::move(needs);
  return result;
}

inline std::shared_ptr<model::NodeClass> node_class(std::string kind,
                                                    boost::json::value spec = {}) {
  auto result = std::make_shared<model::NodeClass>();
  result->meta.name = "default";
  result->kind = std::move(kind);
  result->spec = std::move(spec);
  return result;
}

// What a handler of notices returns.
inline base::Task<base::Result<>> acted() {
  co_return base::Result<>{};
}

// Remembers what it was told, as "launched <id>" and so on.
struct RecordingListener final : InstanceListener {
  explicit RecordingListener(base::Loop& l) : loop(l) {}
  void launched(const Instance& instance, std::shared_ptr<const model::NodeClaim> owner,
                base::Duration boot_latency) override {
    events.push_back("launched " + owner->meta.name);
    last = instance;
    boot = boot_latency;
    at.push_back(loop.now());
  }
  void terminating(const std::string& /*provider_id*/) override {
    events.emplace_back("terminating");
    at.push_back(loop.now());
  }
  void terminated(const std::string& /*provider_id*/) override {
    events.emplace_back("terminated");
    at.push_back(loop.now());
  }
  base::Loop& loop;
  std::vector<std::string> events;
  std::vector<base::TimePoint> at;
  Instance last;
  base::Duration boot{};
};

class Bench {
 public:
  explicit Bench(Profile profile, SimulatedSettings settings = {})
      : loop(kSimulatedStart), listener(loop), tasks(loop) {
    auto made = SimulatedCloud::make(loop, profile, std::move(settings));
    EXPECT_TRUE(made) << made.error().message;
    cloud = std::move(*made);
    cloud->set_listener(&listener);
  }

  // The answer to a call, after running the loop for as long as it takes.
  template <class T>
  base::Result<T> wait(base::Task<base::Result<T>> task) {
    std::optional<base::Result<T>> answer;
    tasks.spawn(store(std::move(task), &answer));
    loop.run_until([&] { return answer.has_value(); }, std::chrono::hours(1));
    EXPECT_TRUE(answer.has_value()) << "no answer within an hour";
    return std::move(*answer);
  }
  base::Result<Instance> create(std::shared_ptr<const model::NodeClaim> owner,
                                std::string kind = "KWOKNodeClass") {
    return wait(cloud->create(std::move(owner), node_class(std::move(kind))));
  }
  std::size_t instances() { return wait(cloud->list())->size(); }

  base::VirtualLoop loop;
  RecordingListener listener;
  std::unique_ptr<SimulatedCloud> cloud;
  base::TaskGroup tasks;

 private:
  template <class T>
  static base::Task<void> store(base::Task<base::Result<T>> task,
                                std::optional<base::Result<T>>* answer) {
    auto result = co_await std::move(task);
    answer->emplace(std::move(result));
  }
};

}  // namespace millwright::cloud
