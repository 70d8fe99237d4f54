// What the adapter does, over real HTTP and with signatures that are verified.
#include "adapter_fixture.hpp"

namespace millwright::cloud {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Adapter, AClaimsWholeLife) {
  const auto refused_before = control("/_facade/ledger").at("bad_signatures").as_int64();
  start();
  const auto state = resolve();
  EXPECT_TRUE(state.ready) << state.message;
  EXPECT_EQ(state.status.at("subnets").as_array().size(), 4U);
  EXPECT_EQ(state.status.at("securityGroups").as_array().size(), 1U);
  EXPECT_EQ(state.status.at("amis").as_array().size(), 2U);
  wait_for_catalog();

  const auto claim = claim_named("whole-life", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->provider_id, testing::StartsWith("aws:///us-west-2a/i-"));
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m5.large");
  EXPECT_EQ(made->labels.at("topology.k8s.aws/zone-id"), "usw2-az2");
  EXPECT_EQ(model::get(made->allocatable, "cpu").milli(), 1930);

  // The same claim again is the same instance.
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, made->provider_id);

  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto listed = list();
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().node_claim, "whole-life");
  EXPECT_EQ(listed->front().node_pool, "pool");
  EXPECT_EQ(listed->front().image_id, made->image_id);
  const auto drift =
      thread.run<base::Result<std::string>>([&] { return cloud->drift(claim, the_class); });
  ASSERT_TRUE(drift) << drift.error().message;
  EXPECT_EQ(*drift, "");

  EXPECT_TRUE(remove(claim));
  const auto gone = remove(claim);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::NotFound);
  EXPECT_TRUE(list()->empty());
  const auto ledger = control("/_facade/ledger");
  EXPECT_EQ(ledger.at("launches").at("uid-whole-life").as_array().size(), 1U);
  EXPECT_EQ(ledger.at("bad_signatures").as_int64(), refused_before) << records->text();
}

TEST_F(Adapter, SoldOutOfferingsLeadToTheNextOne) {
  start();
  resolve();
  wait_for_catalog();
  control("/_facade/sold-out", R"({"type":"m5.large","zone":"us-west-2a"})");
  const auto first = create(claim_named("only-m5", {"m5.large"}));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(first.error().message, HasSubstr("InsufficientInstanceCapacity"));
  const auto second = claim_named("m5-or-m6i", {"m5.large", "m6i.large"});
  const auto made = create(second);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m6i.large");
  second->provider_id = made->provider_id;
  EXPECT_TRUE(remove(second));
}

TEST_F(Adapter, ThrottlingIsWaitedOut) {
  start();
  resolve();
  control("/_facade/throttle", R"({"action":"DescribeInstances","count":2})");
  const auto before = calls("DescribeInstances");
  EXPECT_TRUE(list());
  EXPECT_EQ(calls("DescribeInstances"), before + 3);
}

TEST_F(Adapter, AWrongSecretIsADenialThatSaysWhatToDo) {
  environment["AWS_SECRET_ACCESS_KEY"] = "another";
  start();
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::Denied);
  EXPECT_THAT(listed.error().message, HasSubstr("SignatureDoesNotMatch"));
  EXPECT_THAT(listed.error().message, Not(HasSubstr("another")));
}

TEST_F(Adapter, WebIdentityGetsKeysThatWork) {
  const std::string file = testing::TempDir() + "millwright-web-identity-token";
  std::ofstream(file) << "header.payload.signature";
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/karpenter";
  environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = file;
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
  EXPECT_GE(calls("AssumeRoleWithWebIdentity"), 1);
}

TEST_F(Adapter, PodIdentityGetsKeysThatWork) {
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = test::Facade::url() + "/v1/credentials";
  environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "pod-identity-token";
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
}

TEST_F(Adapter, InstanceMetadataGivesRegionAndKeys) {
  environment.erase("AWS_ACCESS_KEY_ID");
  environment.erase("AWS_SECRET_ACCESS_KEY");
  environment.erase("AWS_REGION");
  environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = test::Facade::url();
  start();
  const auto listed = list();
  EXPECT_TRUE(listed) << listed.error().message;
}

TEST_F(Adapter, TheCatalogIsTheWholeRegion) {
  start();
  resolve();
  wait_for_catalog();
  const auto types = cloud->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_GT((*types)->size(), 500U);
  std::size_t priced = 0;
  for (const auto& type : **types) {
    for (const auto& offering : type.offerings) {
      priced += offering.price > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(priced, 2000U);
}

TEST_F(Adapter, EqualClaimsAtOnceAreOneFleet) {
  start();
  resolve();
  wait_for_catalog();
  struct Together {
    static base::Task<void> one(Provider& in, std::shared_ptr<const model::NodeClaim> claim,
                                std::shared_ptr<const model::NodeClass> of,
                                std::vector<base::Result<Instance>>& into) {
      auto made = co_await in.create(std::move(claim), std::move(of));
      into.push_back(std::move(made));
    }
    static base::Task<std::vector<base::Result<Instance>>> all(
        base::Loop& loop, Provider& in, std::vector<std::shared_ptr<const model::NodeClaim>> claims,
        std::shared_ptr<const model::NodeClass> of) {
      std::vector<base::Result<Instance>> made;
      base::TaskGroup group(loop);
      for (const auto& claim : claims) {
        group.spawn(one(in, claim, of, made));
      }
      co_await group.join();
      co_return made;
    }
  };
  std::vector<std::shared_ptr<const model::NodeClaim>> claims;
  for (const std::string name : {"merged-a", "merged-b", "merged-c"}) {
    claims.push_back(claim_named(name, {"m5.large"}));
  }
  const auto before = calls("CreateFleet");
  const auto made = thread.run<std::vector<base::Result<Instance>>>(
      [&] { return Together::all(thread.loop, *cloud, claims, the_class); });
  EXPECT_EQ(calls("CreateFleet"), before + 1);
  std::set<std::string> different;
  for (const auto& each : made) {
    ASSERT_TRUE(each) << each.error().message;
    different.insert(each->provider_id);
  }
  EXPECT_EQ(different.size(), 3U);
  // Ended before anything is recorded: the adapter still knows whose they are.
  for (const auto& claim : claims) {
    EXPECT_TRUE(remove(claim));
  }
}

TEST_F(Adapter, AReservationIsAnOffering) {
  control("/_facade/reservation",
          R"({"id":"cr-0a1b","type":"m5.large","zone":"us-west-2b","left":3})");
  start();
  resolve({{"capacityReservationSelectorTerms",
            json::array{{{"id", "cr-0a1b"}}, {{"id", "cr-0gone"}}}}});
  wait_for_catalog();
  EXPECT_EQ(the_class->status.at("capacityReservations").as_array().size(), 1U);
  scheduling::InstanceTypes types;
  thread.call([&] { types = *cloud->instance_types({}, *the_class); });
  const auto* type = scheduling::find_type(types, "m5.large");
  const auto reserved =
      std::find_if(type->offerings.begin(), type->offerings.end(),
                   [](const auto& each) { return each.capacity_type() == model::kReserved; });
  ASSERT_NE(reserved, type->offerings.end());
  EXPECT_EQ(reserved->zone(), "us-west-2b");
  EXPECT_EQ(reserved->reservation_capacity, 3);
  control("/_facade/reservation", R"({"id":"cr-0a1b","ended":true})");
}

TEST_F(Adapter, AReservationIsUsedUpThenOthersAreBoughtAndItsEndIsSeen) {
  const std::string_view one = R"({"id":"cr-0c2d","type":"m5.large","zone":"us-west-2a","left":1})";
  control("/_facade/reservation", std::string(one));
  start();
  const json::object terms{{"capacityReservationSelectorTerms", json::array{{{"id", "cr-0c2d"}}}}};
  resolve(terms);
  wait_for_catalog();
  const auto patient = [this](const std::string& name) {
    auto claim = claim_named(name, {"m5.large"});
    claim->requirements[1].values = {"reserved", "on-demand"};
    return claim;
  };
  const auto in = patient("in-the-reservation");
  const auto first = create(in);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->labels.at("karpenter.sh/capacity-type"), "reserved");
  EXPECT_EQ(first->labels.at("karpenter.k8s.aws/capacity-reservation-id"), "cr-0c2d");
  EXPECT_EQ(first->labels.at("karpenter.k8s.aws/capacity-reservation-type"), "default");
  const auto after = patient("when-it-is-used-up");
  const auto second = create(after);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->labels.at("karpenter.sh/capacity-type"), "on-demand");

  // Somebody else takes what EC2 had left.
  control("/_facade/reservation", std::string(one));
  resolve(terms);
  control("/_facade/reservation",
          R"({"id":"cr-0c2d","type":"m5.large","zone":"us-west-2a","left":0})");
  const auto late = patient("too-late");
  const auto refused = create(late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(refused.error().message, HasSubstr("ReservationCapacityExceeded"));
  const auto next = patient("its-successor");  // as the controllers make one after NoCapacity
  const auto third = create(next);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->labels.at("karpenter.sh/capacity-type"), "on-demand");

  const auto capacity_type = [&] {
    const auto read =
        thread.run<base::Result<Instance>>([&] { return cloud->get(first->provider_id); });
    return read ? read->labels.at("karpenter.sh/capacity-type") : read.error().message;
  };
  EXPECT_EQ(capacity_type(), "reserved");
  control("/_facade/reservation", R"({"id":"cr-0c2d","ended":true})");
  EXPECT_EQ(capacity_type(), "on-demand");
  for (const auto& claim : {in, after, next}) {
    EXPECT_TRUE(remove(claim));
  }
}

TEST_F(Adapter, AZoneThatTheClusterIsShiftedAwayFromIsLeftOut) {
  control("/_facade/zonal-shift", R"({"zone":"usw2-az2","seconds":3600})");
  zonal_shift = true;
  start();
  resolve();
  wait_for_catalog();
  const auto available = [this](std::string_view zone) {
    scheduling::InstanceTypes types;
    thread.call([&] { types = *cloud->instance_types({}, *the_class); });
    const auto& offerings = scheduling::find_type(types, "m5.large")->offerings;
    return std::any_of(offerings.begin(), offerings.end(),
                       [&](const auto& each) { return each.zone() == zone && each.available; });
  };
  EXPECT_TRUE(wait_until([&] { return !available("us-west-2a"); })) << records->text();
  EXPECT_TRUE(available("us-west-2b"));
  control("/_facade/zonal-shift", "{}");
}

base::Task<base::Result<>> acted() {
  co_return base::Result<>{};
}

TEST_F(Adapter, AnUnhealthyInstanceIsTold) {
  start();
  resolve();
  wait_for_catalog();
  const auto claim = claim_named("unhealthy", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  const auto id = made->provider_id.substr(made->provider_id.rfind('/') + 1);
  control("/_facade/unhealthy",
          R"({"zone":"us-west-2a","check":"system","instance":")" + id + "\"}");
  std::vector<std::string> told;
  thread.call([&] {
    cloud->set_recorded([&](std::string_view each) { return each == made->provider_id; });
    cloud->on_interruption([&told](const InstanceNotice& notice) {
      told.push_back(notice.kind + " " + notice.provider_id);
      return acted();
    });
  });
  lead();
  EXPECT_TRUE(wait_until([&] {
    bool any = false;
    thread.call([&] { any = !told.empty(); });
    return any;
  })) << records->text();
  thread.call([&] {
    cloud->on_interruption(nullptr);
    EXPECT_THAT(told, testing::ElementsAre("system_status " + made->provider_id));
  });
  control("/_facade/unhealthy", "{}");
  EXPECT_TRUE(remove(claim));
}

TEST_F(Adapter, DryRunsTellWhetherTheRoleMayLaunch) {
  start();
  resolve();
  wait_for_catalog();
  const auto fleets = calls("CreateFleet");
  const auto verdict = [](const NodeClassState& state) {
    for (const auto& condition : state.conditions) {
      if (condition.type == "ValidationSucceeded") {
        return condition.good ? std::string("True") : condition.reason + ": " + condition.message;
      }
    }
    return std::string("absent");
  };
  EXPECT_EQ(verdict(resolve({{"tags", {{"team", "api"}}}})), "True");
  EXPECT_EQ(calls("CreateFleet"), fleets + 1);
  EXPECT_GT(calls("RunInstances"), 0);
  EXPECT_TRUE(list()->empty());
  control("/_facade/deny", R"({"action":"RunInstances"})");
  const auto state = resolve({{"tags", {{"team", "web"}}}});
  control("/_facade/deny", "{}");
  EXPECT_FALSE(state.ready);
  EXPECT_THAT(verdict(state), testing::StartsWith("RunInstancesAuthCheckFailed: "));
}

}  // namespace
}  // namespace millwright::cloud
