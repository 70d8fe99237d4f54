// How pods that come and go reach the status of their NodeClaims.
#include "millwright/controllers/nodeclaim/claim_status.hpp"

#include "unit/controllers/with_services.hpp"

namespace millwright::controllers {
namespace {

using testing::ClaimBuilder;
using testing::NodeBuilder;

class PodsThatComeAndGo : public WithServices {};

// A cluster's pods are listed one by one when a process starts; a snapshot for each of 50,000 took
// seconds of CPU time before the process was ready.
TEST_F(PodsThatComeAndGo, TakeNoSnapshot) {
  ClaimStatus status(services_);
  state_.upsert(ClaimBuilder("claim").provider("p1").build());
  state_.upsert(NodeBuilder("node").managed().provider("p1").build());
  const std::uint64_t before = state_.latest()->generation;
  status.pod_event("node");
  status.pod_event("unknown");
  EXPECT_EQ(state_.latest()->generation, before);
}

}  // namespace
}  // namespace millwright::controllers
