// How a finalizer goes.
#include "controllers/termination/last_steps.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

TEST(LastSteps, TheFinalizerGoesFromOneVersionOnlyAndOthersStay) {
  model::ObjectMeta meta;
  meta.name = "n";
  meta.resource_version = "17";
  meta.finalizers = {"example.com/a", std::string(model::kTerminationFinalizer), "example.com/b"};
  EXPECT_EQ(boost::json::serialize(finalizer_removal(meta)),
            R"({"metadata":{"resourceVersion":"17",)"
            R"("finalizers":["example.com/a","example.com/b"]}})");
  meta.finalizers = {std::string(model::kTerminationFinalizer)};
  EXPECT_EQ(boost::json::serialize(finalizer_removal(meta)),
            R"({"metadata":{"resourceVersion":"17","finalizers":[]}})");
}

}  // namespace
}  // namespace millwright::controllers
