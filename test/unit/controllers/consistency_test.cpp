#include "controllers/nodeclaim/conditions/consistency.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

model::ResourceList milli(std::string name, std::int64_t amount) {
  return {{std::move(name), model::Quantity::from_milli(amount)}};
}

TEST(Consistency, MissesOnlyWhatWasAskedForAndPromised) {
  struct Case {
    std::string requested;
    std::int64_t promised;
    std::int64_t found;
    bool consistent;
  };
  for (const auto& [requested, promised, found, consistent] :
       {Case{"cpu", 1000, 1000, true}, Case{"cpu", 1000, 900, true}, Case{"cpu", 1000, 899, false},
        Case{"cpu", 1000, 2000, true}, Case{"cpu", 0, 0, true}, Case{"cpu", 1000, 0, false},
        Case{"memory", 1000, 0, true}}) {
    model::NodeClaim claim;
    claim.requests = milli(requested, 100);
    claim.capacity = milli("cpu", promised);
    model::Node node;
    node.capacity = milli("cpu", found);
    EXPECT_EQ(inconsistency(claim, node).empty(), consistent) << promised << " " << found;
  }
}

TEST(Consistency, SaysHowMuchThereIs) {
  model::NodeClaim claim;
  claim.requests = milli("cpu", 100);
  claim.capacity = milli("cpu", 4000);
  model::Node node;
  node.capacity = milli("cpu", 3000);
  EXPECT_EQ(inconsistency(claim, node),
            "expected 4 of resource cpu, but found 3 (75.0% of expected)");
}

}  // namespace
}  // namespace millwright::controllers
