#include "millwright/cloud/leader_only.hpp"

#include "simulated_fixture.hpp"
#include "witness.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::cloud {
namespace {

using std::chrono::seconds;

class LeaderOnlyCloudTest : public testing::Test {
 protected:
  // What one call comes to: "asked" of the cloud, or "refused" before.
  template <class T>
  std::string outcome(base::Task<base::Result<T>> call) {
    used_.clear();
    const auto reply = bench_.wait(std::move(call));
    EXPECT_FALSE(reply);  // a witness does nothing
    const bool refused = reply.error().message.find("does not lead") != std::string::npos;
    EXPECT_EQ(refused, used_.empty());
    EXPECT_EQ(reply.error().kind, base::ErrorKind::Unavailable);
    return refused ? "refused" : "asked";
  }

  Bench bench_{Profile::Kwok, {}};
  base::Leadership leadership_{bench_.loop};
  std::vector<std::string> used_;
  std::unique_ptr<Provider> cloud_ = leader_only(std::make_unique<Witness>(used_), leadership_);
};

TEST_F(LeaderOnlyCloudTest, ChangesNeedATermAndQuestionsDoNot) {
  const auto claimed = claim("a");
  const auto of_class = node_class("KWOKNodeClass");
  struct Case {
    const char* door;
    std::function<std::string()> call;
    bool change;
  };
  const Case cases[] = {
      {"create", [&] { return outcome(cloud_->create(claimed, of_class)); }, true},
      {"remove", [&] { return outcome(cloud_->remove(claimed)); }, true},
      {"remove_leaked", [&] { return outcome(cloud_->remove_leaked("w://a")); }, true},
      {"resolve", [&] { return outcome(cloud_->resolve(of_class)); }, true},
      {"release", [&] { return outcome(cloud_->release(of_class)); }, true},
      {"get", [&] { return outcome(cloud_->get("w://a")); }, false},
      {"list", [&] { return outcome(cloud_->list()); }, false},
      {"drift", [&] { return outcome(cloud_->drift(claimed, of_class)); }, false},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(one.call(), one.change ? "refused" : "asked") << one.door << ", no term yet";
    leadership_.begin(bench_.loop.now() + seconds(10));
    EXPECT_EQ(one.call(), "asked") << one.door << ", in a term";
    bench_.loop.run_for(seconds(10));
    EXPECT_EQ(one.call(), one.change ? "refused" : "asked") << one.door << ", after it";
  }
}

TEST_F(LeaderOnlyCloudTest, EveryOtherDoorLeadsToTheCloudBehind) {
  cloud_->on_catalog_change([this] { used_.emplace_back("on_catalog_change"); });
  cloud_->on_interruption([this](const InstanceNotice& notice) {
    used_.push_back("interrupted " + notice.provider_id);
    return acted();
  });
  cloud_->set_recorded([](std::string_view id) { return id == "witness://recorded"; });
  cloud_->learn_capacity({}, {});
  bench_.tasks.spawn(cloud_->run({}));
  bench_.tasks.spawn(cloud_->lead({}));
  bench_.loop.run_until([this] { return used_.size() == 6; }, std::chrono::hours(1));
  EXPECT_THAT(used_, testing::ElementsAre("on_catalog_change", "interrupted witness://interrupted",
                                          "set_recorded", "learn_capacity", "run", "lead"));
  EXPECT_EQ(cloud_->name(), "witness");
  EXPECT_EQ(cloud_->node_class_finalizer({}), "witness/finalizer");
  EXPECT_EQ(cloud_->hash_of({}).value().key, "witness/hash");
  EXPECT_THAT(cloud_->unsupported({}), testing::ElementsAre("witness"));
  EXPECT_FALSE(cloud_->instance_types({}, *node_class("KWOKNodeClass")));
  EXPECT_TRUE(cloud_->node_classes().empty());
  EXPECT_EQ(cloud_->repair_policies().data(), &kWitnessRepairPolicies[0]);
}

// A launch that has begun asks for each of its calls.
TEST_F(LeaderOnlyCloudTest, ALaunchMayGoOnBuyingUntilTheTermMayBeOver) {
  auto behind = std::make_unique<Witness>(used_);
  const auto* witness = behind.get();
  const auto cloud = leader_only(std::move(behind), leadership_);
  EXPECT_FALSE(witness->may_buy());
  leadership_.begin(bench_.loop.now() + seconds(10));
  EXPECT_TRUE(witness->may_buy());
  bench_.loop.run_for(seconds(10));
  EXPECT_FALSE(witness->may_buy());
}

// Its work for the leader lasts an hour, unless it is stopped.
class Busy final : public Witness {
 public:
  Busy(base::Loop& loop, std::vector<std::string>& used) : Witness(used), loop_(loop) {}
  base::Task<void> lead(std::stop_token stop) override {
    co_await base::sleep(loop_, std::chrono::hours(1), stop);
    note(stop.stop_requested() ? "stopped" : "done");
  }

 private:
  base::Loop& loop_;
};

TEST_F(LeaderOnlyCloudTest, TheLeadersBackgroundWorkStopsWithTheTermOrBefore) {
  for (const bool asked : {true, false}) {
    used_.clear();
    const auto cloud = leader_only(std::make_unique<Busy>(bench_.loop, used_), leadership_);
    leadership_.begin(bench_.loop.now() + seconds(10));
    std::stop_source stop;
    bench_.tasks.spawn(cloud->lead(stop.get_token()));
    bench_.loop.run_for(seconds(9));
    EXPECT_TRUE(used_.empty());
    if (asked) {
      stop.request_stop();
    }
    bench_.loop.run_for(seconds(1));
    EXPECT_THAT(used_, testing::ElementsAre("stopped"));
  }
}

}  // namespace
}  // namespace millwright::cloud
