#include "cloud/alibaba/node_class/resolver.hpp"

#include "cloud/alibaba/node_class/node_class_hash.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::alibaba {
namespace {

namespace json = boost::json;

constexpr base::Duration kNothingKept = std::chrono::seconds(15);
constexpr base::Duration kVSwitchesKept = std::chrono::minutes(1);
constexpr base::Duration kGroupsKept = std::chrono::minutes(5);
constexpr base::Duration kImagesKept = std::chrono::minutes(5);

template <class T>
void sort_by_id(std::vector<T>& list) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.id < b.id; });
  list.erase(
      std::unique(list.begin(), list.end(), [](const T& a, const T& b) { return a.id == b.id; }),
      list.end());
}

NodeClassCondition judged(std::string_view what, bool good, std::string_view field) {
  NodeClassCondition condition;
  condition.type = std::string(what) + "Ready";
  condition.good = good;
  if (!good) {
    condition.reason = std::string(what) + "NotFound";
    condition.message = std::string("spec.").append(field).append(
        " selects nothing; check ids, names, tags and the region");
  }
  return condition;
}

json::object status_of(const std::vector<VSwitch>& vswitches,
                       const std::vector<SecurityGroup>& groups,
                       const std::vector<ResolvedImage>& images) {
  json::array first;
  for (const auto& each : vswitches) {
    first.push_back(json::object{{"id", each.id}, {"zoneID", each.zone}});
  }
  json::array second;
  for (const auto& each : groups) {
    second.push_back(json::object{{"id", each.id}, {"name", each.name}});
  }
  json::array third;
  for (const auto& each : images) {
    third.push_back(json::object{
        {"id", each.id}, {"name", each.name}, {"requirements", model::encode(each.requirements)}});
  }
  return {{"vSwitches", std::move(first)},
          {"securityGroups", std::move(second)},
          {"images", std::move(third)}};
}

// Ready when all conditions are good; otherwise the first bad one gives the reason.
void conclude(NodeClassState& state) {
  const auto bad = std::find_if(state.conditions.begin(), state.conditions.end(),
                                [](const auto& condition) { return !condition.good; });
  state.ready = bad == state.conditions.end();
  if (!state.ready) {
    state.reason = bad->reason;
    state.message = bad->message;
  }
}

}  // namespace

template <class T>
void Resolver::remember(Memory<T>& memory, const std::vector<SelectorTerm>& terms,
                        const std::vector<T>& found, base::Duration kept) {
  const auto now = api_.loop().now();
  std::erase_if(memory, [now](const auto& item) { return now >= item.second.until; });
  memory[terms] = {.found = found, .until = now + (found.empty() ? kNothingKept : kept)};
}

std::int64_t Resolver::free_addresses(std::string_view vswitch) const {
  const auto found = free_addresses_.find(vswitch);
  return found == free_addresses_.end() ? 0 : found->second;
}

base::Task<ApiResult<std::vector<VSwitch>>> Resolver::find_vswitches(
    std::vector<SelectorTerm> terms) {
  const auto known = vswitches_.find(terms);
  if (known != vswitches_.end() && api_.loop().now() < known->second.until) {
    co_return known->second.found;
  }
  std::vector<VSwitch> found;
  for (const auto& term : terms) {
    if (term.id.empty() && term.tags.empty()) {
      continue;  // would select every vSwitch of the account
    }
    MW_CO_TRY(some, co_await ecs_.vswitches(term.id, term.tags));
    std::erase_if(
        some, [&](const VSwitch& each) { return !term.zone.empty() && each.zone != term.zone; });
    found.insert(found.end(), some.begin(), some.end());
  }
  sort_by_id(found);
  for (const auto& each : found) {
    free_addresses_[each.id] = each.free_addresses;
  }
  remember(vswitches_, terms, found, kVSwitchesKept);
  co_return found;
}

base::Task<ApiResult<std::vector<SecurityGroup>>> Resolver::find_groups(
    std::vector<SelectorTerm> terms) {
  const auto known = groups_.find(terms);
  if (known != groups_.end() && api_.loop().now() < known->second.until) {
    co_return known->second.found;
  }
  std::vector<SecurityGroup> found;
  for (const auto& term : terms) {
    Parameters filter;
    if (!term.id.empty()) {
      const std::vector<std::string> ids{term.id};
      filter.set_json_list("SecurityGroupIds", ids);
    } else if (!term.name.empty()) {
      filter.set("SecurityGroupName", term.name);
    }
    filter.set_tag_filter(term.tags);
    if (filter.all().empty()) {
      continue;  // would select every group of the account
    }
    MW_CO_TRY(some, co_await ecs_.security_groups(std::move(filter)));
    found.insert(found.end(), some.begin(), some.end());
  }
  sort_by_id(found);
  remember(groups_, terms, found, kGroupsKept);
  co_return found;
}

base::Task<ApiResult<NodeClassState>> Resolver::resolve(NodeClassPtr node_class,
                                                        std::string kubernetes) {
  const auto spec = read_spec(*node_class);
  MW_CO_TRY(vswitches, co_await find_vswitches(spec.vswitch_terms));
  MW_CO_TRY(groups, co_await find_groups(spec.security_group_terms));
  auto& memory = image_memory_[kubernetes];
  const auto known = memory.find(spec.image_terms);
  std::vector<ResolvedImage> images;
  if (known != memory.end() && api_.loop().now() < known->second.until) {
    images = known->second.found;
  } else {
    MW_CO_TRY(found, co_await images_.find(spec.image_terms, kubernetes));
    images = std::move(found);
    remember(memory, spec.image_terms, images, kImagesKept);
  }
  NodeClassState state;
  state.conditions = {judged("VSwitches", !vswitches.empty(), "vSwitchSelectorTerms"),
                      judged("SecurityGroups", !groups.empty(), "securityGroupSelectorTerms"),
                      judged("Images", !images.empty(), "imageSelectorTerms")};
  conclude(state);
  state.status = status_of(vswitches, groups, images);
  state.stamp = hash_stamp(*node_class);
  co_return state;
}

}  // namespace millwright::cloud::alibaba
