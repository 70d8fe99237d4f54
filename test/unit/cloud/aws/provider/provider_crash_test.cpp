// Answers that never come and processes that end: whatever happens, a claim has one instance.
#include "provider_fixture.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using namespace std::chrono_literals;

TEST_F(ProviderTest, ALostAnswerDoesNotMakeASecondInstance) {
  ec2.lose_answer = true;
  const auto claim = claim_named("a");
  // The call is tried again with its token, and AWS answers with the first call's instance.
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(ec2.living().size(), 1U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 2U);
}

TEST_F(ProviderTest, DoubtsAboutClaimsThatNobodyAsksForAreForgotten) {
  const auto answer = ec2.aws.answer_to("CreateFleet");
  ec2.aws.on("CreateFleet", [](const Asked&) -> base::Result<net::Response> {
    return base::fail(ErrorKind::Timeout, "no answer");
  });
  const auto soon = claim_named("asked-soon");
  const auto late = claim_named("asked-late");
  EXPECT_FALSE(create(soon));
  EXPECT_FALSE(create(late));
  ec2.aws.on("CreateFleet", answer);
  const auto looks = [this] { return ec2.aws.calls("DescribeInstances").size(); };
  auto before = looks();
  ASSERT_TRUE(create(soon));
  EXPECT_GT(looks(), before);  // for what the call without an answer may have made
  loop.run_for(61min);
  ASSERT_TRUE(wait(loop, cloud->list()));
  before = looks();
  ASSERT_TRUE(create(late));
  EXPECT_EQ(looks(), before);
}

TEST_F(ProviderTest, AnInstanceOfAnEarlierLifeIsAdopted) {
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));
  crash();
  loop.run_for(1s);
  start();
  loop.run_for(1min);
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(again->capacity.at("cpu").units(), 2);
  EXPECT_EQ(ec2.machines.size(), 1U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
}

TEST_F(ProviderTest, AUsedTokenLeadsToItsInstanceEvenWhenItShowsLate) {
  ec2.lag = 5s;
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));
  crash();
  start();
  loop.run_for(2s);
  claim->requirements[0].values = {"m6i.large"};  // the plan is another one now
  ec2.find("i-1").visible_at = loop.now() + 5s;
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(ec2.machines.size(), 1U);
}

TEST_F(ProviderTest, AClaimThatNeverLearnedItsInstanceCanStillEndIt) {
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));  // the answer is never recorded on the claim
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_TRUE(ec2.living().empty());
  EXPECT_EQ(wait(loop, cloud->remove(claim_named("never"))).error().kind, ErrorKind::NotFound);
}

// Three equal claims are one call; EC2 makes their instances, and the process ends before it hears
// of them. They are the three claims', and nobody knows which is whose.
class MergedCrash : public ProviderTest {
 protected:
  void launch_and_die() {
    for (const auto& claim : claims) {
      background->spawn(keep_asking(claim));
    }
    loop.run_until([&] { return ec2.machines.size() == claims.size(); }, 1min);
    crash();
    ASSERT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
    ASSERT_TRUE(given.empty());
  }
  // CreateFleet takes effect, and says nothing.
  void lose_answers() {
    ec2.aws.on("CreateFleet", [&](const Asked& asked) -> base::Result<net::Response> {
      remembers(asked);
      return base::fail(ErrorKind::Timeout, "no answer");
    });
  }
  // Dies once more when it has launched a fourth claim alone, whose instance shows late; the next
  // process has begun.
  std::shared_ptr<model::NodeClaim> launch_one_and_die(base::Duration shows_after) {
    launch_and_die();
    loop.run_for(5s);
    start();
    auto alone = claim_named("alone");
    alone->meta.creation_timestamp = loop.now() + 1s;  // after this process began
    ec2.lag = shows_after;
    lose_answers();
    loop.run_for(2s);
    ask_at_once({alone});
    EXPECT_TRUE(loop.run_until([&] { return ec2.machines.size() == 4U; }, 1min));
    crash();
    ec2.aws.on("CreateFleet", remembers);
    start();
    loop.run_for(2s);
    return alone;
  }
  void lose_one_answer_and_refuse_others() {
    ec2.aws.on("CreateFleet", [this](const Asked& asked) -> base::Result<net::Response> {
      if (!std::exchange(lost_, true)) {
        EXPECT_TRUE(remembers(asked));
        return base::fail(ErrorKind::Unavailable, "the connection was reset");
      }
      return ec2_error("RequestLimitExceeded", 503);
    });
  }
  base::Task<void> ask_once(std::shared_ptr<const model::NodeClaim> claim) {
    co_await cloud->create(claim, the_class);
    ++asked_once;
  }
  std::set<std::string> different() const {
    std::set<std::string> result;
    for (const auto& [claim, provider_id] : given) {
      EXPECT_TRUE(result.insert(provider_id).second) << claim;
    }
    return result;
  }
  std::vector<std::shared_ptr<model::NodeClaim>> claims{claim_named("a"), claim_named("b"),
                                                        claim_named("c")};
  std::size_t asked_once = 0;
  const FakeAws::Answer remembers = ec2.aws.answer_to("CreateFleet");

 private:
  bool lost_ = false;
};

TEST_F(MergedCrash, TheNextLifeDealsWhatIsThere) {
  launch_and_die();
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once(claims);
  loop.run_for(1min);
  EXPECT_EQ(different().size(), 3U);
  EXPECT_EQ(ec2.machines.size(), 3U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
}

TEST_F(MergedCrash, WhatIsRecordedIsNotDealtAgain) {
  launch_and_die();
  recorded = {"aws:///us-west-2a/i-1", "aws:///us-west-2a/i-3"};  // on a and b
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once({claims[2]});
  loop.run_for(1min);
  EXPECT_EQ(given.at("c"), "aws:///us-west-2a/i-2");
  EXPECT_EQ(ec2.machines.size(), 3U);
}

TEST_F(MergedCrash, InstancesThatShowLateAreWaitedFor) {
  ec2.lag = 9s;
  launch_and_die();
  start();
  loop.run_for(1s);
  ask_at_once(claims);
  loop.run_for(1min);
  EXPECT_EQ(different().size(), 3U);
  EXPECT_EQ(ec2.machines.size(), 3U);
}

TEST_F(MergedCrash, AnInstanceThatAClaimCannotUseIsLeftToOthers) {
  launch_and_die();
  const auto other = claim_named("d");
  other->requirements[0].values = {"m6i.large"};
  const auto elsewhere = claim_named("e");
  elsewhere->requirements.push_back(
      {.key = "topology.kubernetes.io/zone", .op = model::Operator::In, .values = {"us-west-2b"}});
  const auto tainted = claim_named("f");
  tainted->taints = {{.key = "team", .value = "x", .effect = "NoSchedule", .time_added = {}}};
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once({other, elsewhere, tainted});
  loop.run_for(1min);
  ask_at_once(claims);
  loop.run_for(1min);
  EXPECT_EQ(different().size(), 6U);
  EXPECT_EQ(ec2.machines.size(), 6U);
  for (const auto& claim : claims) {
    EXPECT_THAT(given.at(claim->meta.name),
                testing::AnyOf(testing::EndsWith("/i-1"), testing::EndsWith("/i-2"),
                               testing::EndsWith("/i-3")));
  }
}

// Its claim was removed by force, and nobody has ended it yet. Its Node may be gone for good.
TEST_F(MergedCrash, AnInstanceThatIsOlderThanTheClaimIsAnothers) {
  launch_and_die();
  loop.run_for(10min);
  start();
  loop.run_for(2s);
  const auto later = claim_named("later");
  later->meta.creation_timestamp = loop.now() - 5s;  // before this process began
  ask_at_once({later});
  loop.run_for(1min);
  EXPECT_EQ(given.at("later"), "aws:///us-west-2a/i-4");
}

// The others are older by no more than clocks may differ.
TEST_F(MergedCrash, ClaimsTakeInstancesThatAreNotOlderFirst) {
  launch_and_die();
  loop.run_for(1min);
  start();
  loop.run_for(1s);
  const std::vector later = {claim_named("d"), claim_named("e")};
  for (const auto& claim : later) {
    claim->meta.creation_timestamp = loop.now();
    background->spawn(keep_asking(claim));
  }
  loop.run_until([&] { return ec2.machines.size() == 5; }, 1min);
  crash();
  ASSERT_TRUE(given.empty());
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once(later);
  loop.run_for(1min);
  EXPECT_EQ(different(), (std::set<std::string>{"aws:///us-west-2a/i-4", "aws:///us-west-2a/i-5"}));
  EXPECT_EQ(ec2.machines.size(), 5U);
}

// Its own is named after it, and what the call launched is what its repeat answers.
TEST_F(MergedCrash, AClaimThatWasLaunchedAloneTakesNoInstanceWithoutAName) {
  launch_and_die();
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  const auto alone = claim_named("alone");
  alone->meta.creation_timestamp = loop.now() + 2s;  // after this process began
  ec2.lag = 30s;
  lose_answers();
  EXPECT_EQ(create(alone).error().kind, ErrorKind::Timeout);
  ec2.aws.on("CreateFleet", remembers);
  const auto made = create(alone);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-4");
  EXPECT_EQ(ec2.machines.size(), 4U);
}

// It shows some seconds after those of the fleet, which are others'.
TEST_F(MergedCrash, TheNextLifeLooksFirstForWhatIsNamedAfterTheClaim) {
  const auto alone = launch_one_and_die(8s);
  const auto made = create(alone);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-4");
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 2U);
}

// It shows so late that the next leader looks for it in vain; EC2 repeats what it answered.
TEST_F(MergedCrash, WhatWasLaunchedForOthersAloneIsNotTaken) {
  const auto alone = launch_one_and_die(1min);
  const auto made = create(alone);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-4");
  EXPECT_EQ(ec2.machines.size(), 4U);
}

// The next leader finds nothing in time and asks for the claim alone. What that launched is its.
TEST_F(MergedCrash, AClaimThatWasAskedForAgainAloneTakesNoInstanceWithoutAName) {
  ec2.lag = 20s;
  launch_and_die();
  ec2.lag = 5min;
  loop.run_for(2s);
  start();
  loop.run_for(2s);
  lose_answers();
  EXPECT_EQ(create(claims[0]).error().kind, ErrorKind::Timeout);
  ASSERT_EQ(ec2.machines.size(), 4U);
  ec2.aws.on("CreateFleet", remembers);
  loop.run_until([&] { return ec2.machines.front().visible_at <= loop.now(); }, 1min);
  ASSERT_GT(ec2.machines.back().visible_at, loop.now());
  const auto made = create(claims[0]);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-4");
  EXPECT_EQ(ec2.machines.size(), 4U);
}

// One of another launch, for more claims than can be listed.
TEST_F(MergedCrash, WhatSaysThatItIsTheClaimsComesBeforeWhatSaysNothing) {
  launch_and_die();
  ec2.find("i-1").tags["millwright.io/launched-for"] = "";
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once({claims[0]});
  loop.run_for(1min);
  EXPECT_EQ(given.at("a"), "aws:///us-west-2a/i-2");
}

// Another leader found nothing, asked for one of the claims alone, and led no more.
TEST_F(MergedCrash, ALeaderThatLeadsAgainLooksForWhatAnotherOneLaunched) {
  lose_answers();
  ec2.lag = 5min;
  for (const auto& claim : claims) {
    background->spawn(ask_once(claim));
  }
  ASSERT_TRUE(loop.run_until([&] { return asked_once == claims.size(); }, 5min));
  ASSERT_EQ(ec2.machines.size(), 3U);
  loop.run_for(15s);
  for (auto& launched : ec2.machines) {
    launched.visible_at = loop.now();
  }
  auto of_the_other = ec2.machines.front();
  of_the_other.id = "i-9";
  of_the_other.visible_at = loop.now() + 5s;
  of_the_other.tags.erase("millwright.io/boot-shape");
  of_the_other.tags.erase("millwright.io/launched-for");
  of_the_other.tags["millwright.io/nodeclaim-uid"] = claims[0]->meta.uid;
  ec2.machines.push_back(of_the_other);
  cloud->inherit(*claims[0]->meta.creation_timestamp);
  const auto made = create(claims[0]);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-9");
}

// Instances of a fleet for several claims are named after theirs once their Node has joined.
TEST_F(MergedCrash, WhatIsNamedAfterAnotherClaimIsNotTaken) {
  launch_and_die();
  ec2.find("i-1").tags["karpenter.sh/nodeclaim"] = "gone-by-force";
  loop.run_for(5s);
  start();
  loop.run_for(2s);
  ask_at_once({claims[0]});
  loop.run_for(1min);
  EXPECT_EQ(given.at("a"), "aws:///us-west-2a/i-2");
}

TEST_F(MergedCrash, ALostAnswerIsRepeatedWithItsToken) {
  ec2.lose_answer = true;
  ask_at_once(claims);
  loop.run_for(1min);
  EXPECT_EQ(different().size(), 3U);
  EXPECT_EQ(ec2.machines.size(), 3U);
  const auto calls = ec2.aws.calls("CreateFleet");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].body, calls[1].body);
}

TEST_F(MergedCrash, ARefusalSaysNothingOfAnAttemptBeforeWhoseAnswerWasLost) {
  lose_one_answer_and_refuse_others();
  ec2.lag = 5s;
  ask_at_once(claims);
  ASSERT_TRUE(loop.run_until([this] { return refusals.size() == 3; }, 1min));
  ec2.aws.on("CreateFleet", remembers);
  ask_at_once({claims[0], claims[1], claims[2], claim_named("d")});
  loop.run_for(3min);
  EXPECT_EQ(different().size(), 4U);
  EXPECT_EQ(ec2.machines.size(), 4U);
}

TEST_F(MergedCrash, ARefusalSaysNothingOfACallBeforeWhoseAnswerWasLost) {
  lose_one_answer_and_refuse_others();
  ec2.lag = 30s;
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(create(claims[0]).error().kind, ErrorKind::Throttled);
  }
  ec2.aws.on("CreateFleet", remembers);
  ask_at_once({claims[0], claims[1]});
  loop.run_for(3min);
  EXPECT_EQ(different().size(), 2U);
  EXPECT_EQ(ec2.machines.size(), 2U);
}

TEST_F(MergedCrash, WhenNoAnswerEverComesTheInstancesAreFoundAgain) {
  lose_answers();
  ask_at_once(claims);
  loop.run_for(5s);
  ec2.aws.on("CreateFleet", remembers);
  loop.run_for(1min);
  EXPECT_EQ(different().size(), 3U);
  EXPECT_EQ(ec2.machines.size(), 3U);
}

// EC2 shows the instances of a call that it has not answered yet, and claims in doubt take them.
TEST_F(MergedCrash, AnInstanceThatShowsBeforeItsAnswerHasOneClaim) {
  const auto fleet_calls = [this] {
    return std::count_if(http.requests.begin(), http.requests.end(), [](const auto& request) {
      return request.body.find("Action=CreateFleet&") != std::string::npos;
    });
  };
  ec2.aws.on("CreateFleet", [](const Asked&) -> base::Result<net::Response> {
    return base::fail(ErrorKind::Timeout, "no answer");
  });
  ask_at_once({claims[0], claims[1]});
  loop.run_for(5s);
  ec2.aws.on("CreateFleet", remembers);
  const auto before = fleet_calls();
  http.delay = 20s;
  ask_at_once({claims[2], claim_named("d")});
  ASSERT_TRUE(loop.run_until([&] { return fleet_calls() > before; }, 5s));
  http.delay = 10ms;
  loop.run_for(3min);
  EXPECT_EQ(given.size(), 4U);
  EXPECT_EQ(different().size(), 4U);
  EXPECT_EQ(ec2.machines.size(), 4U);
}

TEST_F(MergedCrash, AnAnswerThatCouldNotBeRecordedIsGivenAgain) {
  ask_at_once(claims);
  loop.run_for(1min);
  const auto again = create(claims[1]);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->provider_id, given.at("b"));
  // And it can be ended before it is recorded.
  EXPECT_TRUE(wait(loop, cloud->remove(claims[1])));
  EXPECT_EQ(ec2.living().size(), 2U);
}

// Another process led meanwhile, which knew of no deal: it recorded a's instance on b, and ended
// before it recorded the other one on a.
class AnotherDealt : public MergedCrash {
 protected:
  void SetUp() override {
    ask_at_once({claims[0], claims[1]});
    loop.run_for(1min);
    ASSERT_EQ(different().size(), 2U);
    recorded = {given.at("a"), claims[1]->meta.uid};
    cloud->inherit(*claims[0]->meta.creation_timestamp);
  }
};

TEST_F(AnotherDealt, AClaimGetsTheInstanceThatIsLeft) {
  const auto again = create(claims[0]);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, given.at("b"));
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
}

TEST_F(AnotherDealt, AClaimThatGoesTakesNothingFromTheOther) {
  EXPECT_EQ(wait(loop, cloud->remove(claims[0])).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(ec2.living().size(), 2U);
}

// What the first call made, if anything, the next leader finds; what its repeat makes it does not.
TEST_F(ProviderTest, NoCallIsRepeatedAfterTheTerm) {
  const auto makes = ec2.aws.answer_to("CreateFleet");
  ec2.aws.on("CreateFleet", [](const Asked&) -> base::Result<net::Response> {
    return base::fail(ErrorKind::Unavailable, "the connection was reset");
  });
  cloud->set_may_buy([this] { return ec2.aws.calls("CreateFleet").empty(); });
  const auto claim = claim_named("a");
  const auto made = create(claim);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Unavailable);
  EXPECT_THAT(made.error().message, testing::HasSubstr("not asked, the term is over"));
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
  ec2.aws.on("CreateFleet", makes);
  cloud->set_may_buy([] { return true; });
  ASSERT_TRUE(create(claim));
  EXPECT_EQ(ec2.living().size(), 1U);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCrashRuns = 150;
#else
constexpr int kCrashRuns = 2'500;
#endif

// Up to four equal claims, and a process that may end at any moment of their launch, eight times in
// a row; what it knew of instances is on the claims or gone.
class CrashRun : public ProviderTest {
 public:
  void TestBody() override {}
  explicit CrashRun(int seed) : random_(static_cast<std::uint64_t>(seed)) {
    const int count = 1 + static_cast<int>(random_.below(4));
    for (int i = 0; i < count; ++i) {
      claims_.push_back(claim_named("c" + std::to_string(i)));
      claims_.back()->meta.creation_timestamp = loop.now();
    }
    ec2.lag = std::chrono::milliseconds(random_.below(4'000));
    ec2.lose_answer = random_.below(3) == 0;
  }

  void run() {
    for (int life = 0; life < 12 && recorded_of_.size() < claims_.size(); ++life) {
      if (life > 0) {
        loop.run_for(std::chrono::milliseconds(1'000 + random_.below(3'000)));
        start();
        loop.run_for(1s);
      }
      for (const auto& claim : claims_) {
        if (!recorded_of_.contains(claim->meta.name)) {
          background->spawn(launch_and_record(claim, random_.below(30)));
        }
      }
      const bool dies = life < 8 && random_.below(2) == 0;
      loop.run_for(dies ? std::chrono::milliseconds(random_.below(120)) : 60s);
      if (dies && life > 0 && random_.below(2) == 0) {
        loop.run_for(12s);  // in the middle of an adoption
      }
      crash();
    }
  }
  std::size_t claims() const { return claims_.size(); }
  std::size_t recorded_claims() const { return recorded_of_.size(); }
  std::size_t recorded_instances() const { return recorded.size(); }
  bool merged() const {
    const auto calls = ec2.aws.calls("CreateFleet");
    return !calls.empty() &&
           calls[0].field("TargetCapacitySpecification.TotalTargetCapacity") != "1";
  }

 private:
  base::Task<void> launch_and_record(std::shared_ptr<model::NodeClaim> claim, std::uint64_t late) {
    co_await keep_asking(claim);
    co_await base::sleep(loop, std::chrono::milliseconds(late));
    const auto found = given.find(claim->meta.name);
    if (found != given.end()) {
      recorded_of_[claim->meta.name] = found->second;
      recorded.insert(found->second);
    }
  }

  base::Random random_;
  std::vector<std::shared_ptr<model::NodeClaim>> claims_;
  std::map<std::string, std::string> recorded_of_;
};

TEST(ProviderCrash, AtAnyMomentOfALaunchLeavesOneInstancePerClaim) {
  int merged = 0;
  int adopted = 0;
  for (int seed = 0; seed < kCrashRuns && !testing::Test::HasFailure(); ++seed) {
    CrashRun run(seed);
    run.run();
    EXPECT_EQ(run.recorded_claims(), run.claims()) << "seed " << seed;
    EXPECT_EQ(run.recorded_instances(), run.claims()) << "seed " << seed;
    EXPECT_EQ(run.ec2.machines.size(), run.claims()) << "seed " << seed;
    merged += run.merged() ? 1 : 0;
    adopted += run.ec2.aws.calls("DescribeInstances").empty() ? 0 : 1;
  }
  EXPECT_GT(merged, kCrashRuns / 2);
  EXPECT_GT(adopted, kCrashRuns / 4);
}

}  // namespace
}  // namespace millwright::cloud::aws
