#include "recipe.hpp"

#include <array>
#include <random>
#include <string>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kMi = std::int64_t{1} << 20;

model::Quantity milli(std::int64_t value) {
  return model::Quantity::from_milli(value);
}
model::Quantity bytes(std::int64_t value) {
  return model::Quantity::from_units(value, model::Quantity::Format::BinarySI);
}

class Recipe {
 public:
  explicit Recipe(std::uint32_t seed) : random_(seed) {}

  std::shared_ptr<model::Pod> pod(model::StringMap labels) {
    auto result = std::make_shared<model::Pod>();
    result->meta.name = "pod-" + std::to_string(made_);
    result->meta.namespace_ = "default";
    result->meta.uid = "uid-" + std::to_string(1'000'000 + made_++);
    result->meta.labels = std::move(labels);
    constexpr std::array<std::int64_t, 5> kCpus = {100, 250, 500, 1000, 1500};
    constexpr std::array<std::int64_t, 6> kMemories = {100, 256, 512, 1024, 2048, 4096};
    const auto cpu = kCpus[random_() % kCpus.size()];
    const auto memory = kMemories[random_() % kMemories.size()];
    result->spec.containers.push_back(
        {.name = "main", .requests = {{"cpu", milli(cpu)}, {"memory", bytes(memory * kMi)}}});
    return result;
  }
  std::shared_ptr<model::Pod> spread(std::string_view key) {
    model::StringMap labels = {{"my-label", letter()}};
    const std::string wanted = letter();
    auto result = pod(std::move(labels));
    result->spec.topology_spread.push_back(
        {.max_skew = 1,
         .topology_key = std::string(key),
         .when_unsatisfiable = "DoNotSchedule",
         .label_selector = model::LabelSelector{.match_labels = {{"my-label", wanted}}}});
    return result;
  }
  static model::PodAffinityTerm term(std::string_view key, model::StringMap labels) {
    return {.label_selector = model::LabelSelector{.match_labels = std::move(labels)},
            .topology_key = std::string(key)};
  }
  std::string letter() { return std::string(1, static_cast<char>('a' + random_() % 7)); }

 private:
  std::mt19937 random_;  // the generator is the same everywhere; distributions are not
  int made_ = 0;
};

}  // namespace

InstanceTypes recipe_types(int count) {
  std::vector<InstanceType> list;
  for (int i = 0; i < count; ++i) {
    InstanceType type;
    type.name = "fake-it-" + std::to_string(i);
    type.capacity = {{"cpu", milli(1000LL * (i + 1))},
                     {"memory", bytes(2 * kGi * (i + 1))},
                     {"pods", milli(10'000LL * (i + 1))}};
    type.overhead = {{"cpu", milli(100)}, {"memory", bytes(10 * kMi)}};
    const double price = 0.1 * (i + 1) + 0.1e-9 * static_cast<double>(2 * kGi * (i + 1));
    for (const auto& [capacity_type, zones] : {std::pair{model::kSpot, 2}, {model::kOnDemand, 3}}) {
      for (int zone = 1; zone <= zones; ++zone) {
        Offering& offering = type.offerings.emplace_back();
        offering.requirements.add(
            Requirement::in(model::kZoneLabel, {"test-zone-" + std::to_string(zone)}));
        offering.requirements.add(
            Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
        offering.price = price;
      }
    }
    type.requirements.add(Requirement::in(model::kInstanceTypeLabel, {type.name}));
    type.requirements.add(Requirement::in(model::kArchLabel, {"amd64"}));
    type.requirements.add(Requirement::in(model::kOsLabel, {"linux"}));
    type.requirements.add(
        Requirement::in(model::kZoneLabel, {"test-zone-1", "test-zone-2", "test-zone-3"}));
    type.requirements.add(Requirement::in(
        model::kCapacityTypeLabel, {std::string(model::kSpot), std::string(model::kOnDemand)}));
    list.push_back(std::move(type));
  }
  return std::make_shared<const std::vector<InstanceType>>(std::move(list));
}

std::vector<PodPtr> diverse_pods(int count, std::uint32_t seed) {
  Recipe recipe(seed);
  std::vector<PodPtr> pods;
  const int each = count / 5;
  for (int i = 0; i < each; ++i) {
    pods.push_back(recipe.pod({{"my-label", recipe.letter()}}));
  }
  for (int i = 0; i < each; ++i) {
    pods.push_back(recipe.spread(model::kZoneLabel));
  }
  for (int i = 0; i < each; ++i) {
    pods.push_back(recipe.spread(model::kHostnameLabel));
  }
  for (int i = 0; i < each; ++i) {
    const model::StringMap labels = {{"my-affinity", recipe.letter()}};
    auto pod = recipe.pod(labels);
    pod->spec.affinity.required_pod_affinity.push_back(Recipe::term(model::kZoneLabel, labels));
    pods.push_back(std::move(pod));
  }
  for (int i = 0; i < each; ++i) {
    auto pod = recipe.pod({{"app", "nginx"}});
    pod->spec.affinity.required_pod_anti_affinity.push_back(
        Recipe::term(model::kHostnameLabel, {{"app", "nginx"}}));
    pods.push_back(std::move(pod));
  }
  while (pods.size() < static_cast<std::size_t>(count)) {
    pods.push_back(recipe.pod({{"my-label", recipe.letter()}}));
  }
  return pods;
}

std::vector<PodPtr> preference_pods(int count, std::uint32_t seed) {
  Recipe recipe(seed);
  const auto first = recipe.pod({{"app", "nginx"}});
  model::Affinity& affinity = first->spec.affinity;
  affinity.preferred_node_terms.push_back(
      {1, {{{std::string(model::kZoneLabel), model::Operator::In, {"test-zone-1"}, {}}}, {}}});
  for (const auto& [weight, key] : {std::pair{10, model::kZoneLabel}, {1, model::kHostnameLabel}}) {
    affinity.preferred_pod_anti_affinity.push_back({weight, Recipe::term(key, {{"app", "nginx"}})});
  }
  std::vector<PodPtr> pods;
  for (int i = 0; i < count; ++i) {
    auto pod = std::make_shared<model::Pod>(*first);
    pod->meta.name = "pod-" + std::to_string(i);
    pod->meta.uid = "uid-" + std::to_string(1'000'000 + i);
    pods.push_back(std::move(pod));
  }
  return pods;
}

}  // namespace millwright::scheduling::bench
