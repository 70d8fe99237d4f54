// One program that serves two clouds.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

class TwoClouds : public Semantics {
 protected:
  TwoClouds()
      : Semantics([] {
          auto options = gated();
          options.profiles = {cloud::Profile::Kwok, cloud::Profile::Aws};
          return options;
        }()) {}
  void remove(const model::Resource& resource, const std::string& name,
              const std::string& name_space = {}) {
    const auto removed = api().remove(resource, {.namespace_ = name_space, .name = name});
    ASSERT_TRUE(removed) << removed.error().message;
  }
};

// The other cloud has none, and is looked at after it.
TEST_F(TwoClouds, AnInstanceWithoutAClaimIsCollected) {
  create(pool("default", ""));
  create(deployment("web", 1, "cpu: \"1\""));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  const auto& kwok = *cluster_.cluster->cloud(cloud::Profile::Kwok);
  ASSERT_GT(kwok.hourly_cost(), 0);
  const auto claim = nodes().front()->claim_name();
  remove(model::kDeploymentResource, "web", "default");
  edit(model::kNodeClaimResource, claim,
       [](json::value& object) { object.at("metadata").as_object().erase("finalizers"); });
  remove(model::kNodeClaimResource, claim);
  EXPECT_TRUE(soon([&] { return kwok.hourly_cost() == 0; }, minutes(30)));
}

}  // namespace
}  // namespace millwright::test
