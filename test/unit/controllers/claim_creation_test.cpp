// A NodeClaim's creation and deletion, where watch and answers come in another order than they were
// made in.
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/model/codec.hpp"
#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace millwright::controllers {
namespace {

class ClaimCreation : public WithServices {
 protected:
  base::Result<std::shared_ptr<const model::NodeClaim>> create() {
    auto pool = std::make_shared<model::NodePool>();
    pool->meta.name = "default";
    NewClaim wanted{.planned = {}, .pool = std::move(pool), .pods = {}, .reason = "provisioned"};
    wanted.planned.node_pool = "default";
    return kube::test::run(loop_, create_claim(services_, std::move(wanted)));
  }
  // The answer to a creation: the object, with what the API server gives it.
  static boost::json::value created(const kube::ApiRequest& request) {
    auto object = kube::test::parse(request.body);
    auto& meta = object.at("metadata").as_object();
    meta["uid"] = "uid-1";
    meta["resourceVersion"] = "7";
    return object;
  }
  // The first request makes the claim, and its answer is lost. `answer` is given to what comes
  // after: whether it is a creation, and how many there were.
  void lose_first_answer(std::function<net::Response(bool creates, int asked)> answer) {
    transport_->answer = [this, answer = std::move(answer)](const kube::ApiRequest& request) {
      const bool creates = request.method == "POST";
      asked_ += creates ? 1 : 0;
      if (creates && asked_ == 1) {
        stored_ = created(request);
        return kube::test::status_answer(504, "Timeout", "lost");
      }
      return answer(creates, asked_);
    };
  }

  int asked_ = 0;
  boost::json::value stored_;
};

TEST_F(ClaimCreation, CountsAtOnce) {
  transport_->answer = [](const kube::ApiRequest& request) {
    return kube::test::ok(created(request));
  };
  const auto claim = create();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_NE(state_.find_claim((*claim)->meta.name), nullptr);
}

TEST_F(ClaimCreation, DoesNotBringBackAClaimWhoseEndWasSeenBeforeTheAnswer) {
  transport_->answer = [this](const kube::ApiRequest& request) {
    auto object = created(request);
    const auto claim =
        std::make_shared<const model::NodeClaim>(*model::decode<model::NodeClaim>(object));
    state_.upsert(claim);
    state_.remove<model::NodeClaim>(model::key_of(claim->meta));
    return kube::test::ok(std::move(object));
  };
  const auto claim = create();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(state_.find_claim((*claim)->meta.name), nullptr);
}

// For a while nobody can say more.
TEST_F(ClaimCreation, IsNotGivenUpWhileItIsNotKnownWhatBecameOfTheFirstRequest) {
  lose_first_answer([this](bool creates, int asked) {
    if (creates) {
      return kube::test::status_answer(409, "AlreadyExists", "it exists");
    }
    return asked < 3 ? kube::test::status_answer(503, "ServiceUnavailable", "away")
                     : kube::test::ok(stored_);
  });
  const auto claim = create();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(asked_, 3);
}

// The token ran out in between: who asks again is told nothing of the first request.
TEST_F(ClaimCreation, IsNotGivenUpWhileNobodyMayAskWhatBecameOfTheFirstRequest) {
  lose_first_answer([this](bool creates, int asked) {
    if (asked < 3) {
      return kube::test::status_answer(401, "Unauthorized", "Unauthorized");
    }
    return creates ? kube::test::status_answer(409, "AlreadyExists", "it exists")
                   : kube::test::ok(stored_);
  });
  const auto claim = create();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(asked_, 3);
}

TEST_F(ClaimCreation, OfAClaimThatTheWatchNeverShowsIsForgottenOnceTheApiServerDoesNotKnowIt) {
  transport_->answer = [](const kube::ApiRequest& request) {
    return kube::test::ok(created(request));
  };
  const auto claim = create();
  ASSERT_TRUE(claim) << claim.error().message;
  transport_->answer = [](const kube::ApiRequest&) {
    return kube::test::status_answer(404, "NotFound", "there is no such claim");
  };
  EXPECT_TRUE(kube::test::run(loop_, delete_claim(services_, *claim, "unneeded")));
  EXPECT_EQ(state_.find_claim((*claim)->meta.name), nullptr);
}

}  // namespace
}  // namespace millwright::controllers
