// How the pods of a node are asked to leave: none waits for another's answer, and other requests
// wait for none of them.
#include "controllers/termination/evictions.hpp"

#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace millwright::controllers {
namespace {

using kube::test::run;
using std::chrono::seconds;
using testing::at;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NodeBuilder;
using testing::PodBuilder;
using ::testing::SizeIs;

// A node "n" of a few pods, and an API server that takes a second for each answer.
class Evicting : public WithServices {
 protected:
  Evicting() {
    transport_->latency = seconds(1);
    transport_->answer = [this](const kube::ApiRequest& request) {
      return request.path.find(refused_) == std::string::npos
                 ? kube::test::ok(boost::json::object{})
                 : kube::test::status_answer(500, "InternalError", "not now");
    };
    record_->node = NodeBuilder("n").deleting().build();
  }

  void add(const std::string& name) {
    record_->pods.push_back(PodBuilder(name).on("n").phase("Running").build());
  }
  // One step of the drain; returns what was asked for in it.
  std::vector<std::string> step() {
    transport_->seen.clear();
    run(loop_, evictions_.drain(record_, stop_.get_token()));
    await_evictions();
    return transport_->paths();
  }

  void await_evictions() {
    others_.spawn(evictions_.join());
    loop_.run_until([this] { return others_.empty(); }, std::chrono::minutes(1));
  }

  // By then the node must be empty.
  void set_deadline(base::TimePoint deadline) {
    record_->node =
        NodeBuilder("n")
            .deleting()
            .annotation(model::kTerminationTimestampAnnotation, base::format_rfc3339(deadline))
            .build();
  }
  void add_deleting(const std::string& name, base::TimePoint until) {
    model::Pod pod = PodBuilder(name).on("n").phase("Running").value();
    pod.meta.deletion_timestamp = until;
    record_->pods.push_back(std::make_shared<const model::Pod>(std::move(pod)));
  }
  // Drains a node of far more pods than may be evicted at once.
  void drain_many() {
    auto many = std::make_shared<scheduling::NodeRecord>();
    many->node = NodeBuilder("many").deleting().build();
    for (int i = 0; i < 2000; ++i) {
      many->pods.push_back(
          PodBuilder("many-" + std::to_string(i)).on("many").phase("Running").build());
    }
    others_.spawn(drain(many));
    loop_.run_for(seconds(1));
  }
  base::Task<void> drain_twice(scheduling::NodeRecordPtr record, base::TimePoint deadline) {
    co_await evictions_.drain(record, stop_.get_token());
    set_deadline(deadline);
    co_await evictions_.drain(record, stop_.get_token());
  }
  base::Task<void> drain(scheduling::NodeRecordPtr record) {
    co_await evictions_.drain(std::move(record), stop_.get_token());
  }

  std::stop_source stop_;  // the end of the term
  Evictions evictions_{services_};
  std::shared_ptr<scheduling::NodeRecord> record_ = std::make_shared<scheduling::NodeRecord>();
  std::string refused_ = "/pods/none";
  base::TaskGroup others_{loop_};
};

TEST_F(Evicting, AllPodsAreAskedAtOnce) {
  for (int i = 0; i < 20; ++i) {
    add("web-" + std::to_string(i));
  }
  const auto begun = loop_.now();
  EXPECT_THAT(step(), SizeIs(20));
  EXPECT_LT(loop_.now() - begun, seconds(2)) << "twenty answers take no longer than one";
}

TEST_F(Evicting, APodThatCannotBeDeletedHoldsUpNoOther) {
  set_deadline(loop_.now() + seconds(5));
  for (const auto* name : {"a", "stubborn", "z"}) {
    add(name);
  }
  refused_ = "/pods/stubborn";
  const auto begun = loop_.now();
  step();
  std::set<std::string> asked_at_once;
  for (const auto& seen : transport_->seen) {
    if (seen.time == begun) {
      asked_at_once.insert(seen.request.method + " " + seen.request.path);
    }
  }
  for (const auto* name : {"a", "stubborn", "z"}) {
    EXPECT_THAT(asked_at_once,
                Contains(std::string("DELETE /api/v1/namespaces/default/pods/") + name));
  }
}

TEST_F(Evicting, APodIsDeletedOnceMoreOnlyIfThatLeavesItLessTime) {
  set_deadline(loop_.now() + seconds(5));
  add_deleting("slow", loop_.now() + seconds(60));
  EXPECT_THAT(step(), ElementsAre("DELETE /api/v1/namespaces/default/pods/slow"));
  record_->pods.clear();
  loop_.run_for(seconds(10));
  add_deleting("asked", loop_.now() + seconds(1));
  add_deleting("overdue", loop_.now() - seconds(3));
  EXPECT_THAT(step(), SizeIs(0)) << "nobody can have less than a second";
}

// They wait for their share of the rate, one after another.
TEST_F(Evicting, ManyPodsWhoseTimeIsUpAllEndByTheDeadline) {
  const base::TimePoint deadline = loop_.now() + seconds(20);
  set_deadline(deadline);
  for (int i = 0; i < 1000; ++i) {
    add("web-" + std::to_string(i));
  }
  run(loop_, evictions_.drain(record_, stop_.get_token()));
  ASSERT_THAT(transport_->seen, SizeIs(1000));
  EXPECT_GT(transport_->seen.back().time, transport_->seen.front().time + seconds(2));
  for (const auto& seen : transport_->seen) {
    const auto body = kube::test::parse(seen.request.body);
    const seconds grace(body.at("gracePeriodSeconds").to_number<std::int64_t>());
    ASSERT_LE(seen.time + grace, deadline) << seen.request.path;
  }
}

TEST_F(Evicting, OtherRequestsDoNotWaitForThoseOfManyPods) {
  drain_many();
  const auto begun = loop_.now();
  run(loop_, client_.get(model::kNodeResource, {.namespace_ = {}, .name = "n"}));
  EXPECT_LE(loop_.now() - begun, transport_->latency);
}

TEST_F(Evicting, APodWhoseTimeIsUpWaitsForNoEvictionOfOthers) {
  drain_many();
  set_deadline(loop_.now() + seconds(5));
  add("late");
  const auto begun = loop_.now();
  run(loop_, evictions_.drain(record_, {}));
  EXPECT_LE(loop_.now() - begun, transport_->latency);
}

// A deadline that passes is seen in the next round.
TEST_F(Evicting, ARoundDoesNotWaitForTheEvictionsOfItsNode) {
  for (int i = 0; i < 2000; ++i) {
    add("web-" + std::to_string(i));
  }
  others_.spawn(drain_twice(record_, loop_.now() + seconds(5)));
  loop_.run_for(seconds(1));
  EXPECT_THAT(transport_->paths(), Contains(::testing::StartsWith("DELETE ")));
}

TEST_F(Evicting, APodIsNotAskedTwiceAtOnce) {
  add("web");
  run(loop_, evictions_.drain(record_, {}));
  run(loop_, evictions_.drain(record_, {}));
  record_->pods.clear();  // a watch may be late
  run(loop_, evictions_.drain(record_, {}));
  add("web");
  run(loop_, evictions_.drain(record_, {}));
  await_evictions();
  EXPECT_THAT(transport_->paths(), SizeIs(1));
}

TEST_F(Evicting, NothingIsNotedOfANodeThatIsForgottenMeanwhile) {
  add("web");
  refused_ = "/pods/web";
  run(loop_, evictions_.drain(record_, {}));
  evictions_.forget("n");
  await_evictions();
  EXPECT_THAT(events_.reasons, ElementsAre("FailedDraining")) << "that pods are waiting";
  EXPECT_THAT(step(), SizeIs(1));
}

TEST_F(Evicting, EndsWithTheTermThoughThousandsWait) {
  drain_many();
  const auto begun = loop_.now();
  const auto told = events_.reasons.size();
  stop_.request_stop();
  await_evictions();
  EXPECT_LE(loop_.now() - begun, seconds(1));
  EXPECT_THAT(events_.reasons, SizeIs(told)) << "no answer came";
  EXPECT_THAT(metrics_.render(),
              ::testing::Not(HasSubstr("eviction_requests_total{code=\"500\"}")));
}

TEST_F(Evicting, ARefusedPodIsAskedAgainLaterAndForgottenWithItsNode) {
  add("web");
  refused_ = "/pods/web";
  EXPECT_THAT(step(), SizeIs(1));
  EXPECT_THAT(step(), SizeIs(0)) << "after 100 ms at the earliest";
  evictions_.forget("n");
  EXPECT_THAT(step(), SizeIs(1));
}

}  // namespace
}  // namespace millwright::controllers
