#include "cloud/aws/node_class/resolver.hpp"

#include "cloud/aws/node_class/filters.hpp"
#include "cloud/aws/node_class/node_class_hash.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

// The filters of each call: one call for all ids, one for all names, one for each term with tags.
std::vector<std::vector<Filter>> calls_for(const std::vector<SelectorTerm>& terms,
                                           const std::string& id_filter,
                                           const std::string& name_filter) {
  std::vector<std::vector<Filter>> calls;
  std::vector<std::string> ids;
  std::vector<std::string> names;
  for (const auto& term : terms) {
    if (!term.id.empty()) {
      ids.push_back(term.id);
    } else if (!term.name.empty()) {
      names.push_back(term.name);
    } else if (!term.tags.empty()) {
      calls.push_back(tag_filters(term.tags));
    }
  }
  if (!ids.empty()) {
    calls.push_back({{id_filter, std::move(ids)}});
  }
  if (!names.empty() && !name_filter.empty()) {
    calls.push_back({{name_filter, std::move(names)}});
  }
  return calls;
}

template <class T>
void sort_and_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.id < b.id; });
  list.erase(
      std::unique(list.begin(), list.end(), [](const T& a, const T& b) { return a.id == b.id; }),
      list.end());
}

std::string nothing_selected(std::string_view field, std::string_view what) {
  return std::string("spec.")
      .append(field)
      .append(" selects no ")
      .append(what)
      .append("; check ids, names, tags and the region");
}

// Reason and message are used when it is not good.
NodeClassCondition condition_of(std::string_view type, bool good, std::string_view reason,
                                std::string message) {
  NodeClassCondition condition;
  condition.type = type;
  condition.good = good;
  if (!good) {
    condition.reason = reason;
    condition.message = std::move(message);
  }
  return condition;
}

// Ready when all conditions are good; otherwise the first bad one gives the reason.
void sum_up(NodeClassState& state) {
  state.ready = true;
  for (const auto& condition : state.conditions) {
    if (!condition.good && state.ready) {
      state.ready = false;
      state.reason = condition.reason;
      state.message = condition.message;
    }
  }
}

}  // namespace

std::int64_t Resolver::free_addresses(std::string_view subnet) const {
  const auto found = free_addresses_.find(subnet);
  return found == free_addresses_.end() ? 0 : found->second;
}

base::Task<ApiResult<std::vector<Subnet>>> Resolver::find_subnets(std::vector<SelectorTerm> terms) {
  const auto now = api_.loop().now();
  std::erase_if(subnets_, [now](const auto& item) { return now >= item.second.until; });
  if (const auto cached = subnets_.find(terms); cached != subnets_.end()) {
    co_return cached->second.subnets;
  }
  std::vector<Subnet> found;
  for (const auto& filters : calls_for(terms, "subnet-id", "")) {
    MW_CO_TRY(subnets, co_await ec2_.subnets(filters));
    found.insert(found.end(), subnets.begin(), subnets.end());
  }
  sort_and_unique(found);
  for (const auto& subnet : found) {
    free_addresses_[subnet.id] = subnet.free_addresses;
  }
  if (!found.empty()) {
    subnets_[terms] = {found, now + settings_.subnet_refresh};
  }
  co_return found;
}

base::Task<ApiResult<std::vector<SecurityGroup>>> Resolver::find_groups(
    std::vector<SelectorTerm> terms) {
  std::vector<SecurityGroup> found;
  for (const auto& filters : calls_for(terms, "group-id", "group-name")) {
    MW_CO_TRY(groups, co_await ec2_.security_groups(filters));
    found.insert(found.end(), groups.begin(), groups.end());
  }
  sort_and_unique(found);
  co_return found;
}

base::Task<ApiResult<Resolver::Selected>> Resolver::select(NodeClassPtr node_class,
                                                           std::string kubernetes) {
  const auto spec = read_spec(*node_class);
  Selected selected;
  MW_CO_TRY(subnets, co_await find_subnets(spec.subnet_terms));
  selected.subnets = std::move(subnets);
  MW_CO_TRY(groups, co_await find_groups(spec.security_group_terms));
  selected.groups = std::move(groups);
  const bool by_alias = std::any_of(spec.image_terms.begin(), spec.image_terms.end(),
                                    [](const SelectorTerm& term) { return !term.alias.empty(); });
  if (by_alias) {
    selected.image_problem = unsupported_alias(spec.family, kubernetes);
  }
  if (selected.image_problem.empty()) {
    MW_CO_TRY(images, co_await images_.find(spec.image_terms, kubernetes));
    selected.images = std::move(images);
  }
  if (settings_.reserved_capacity) {
    MW_CO_TRY(found, co_await find_reservations(api_, spec.reservation_terms));
    selected.reservations = reservations_.keep(std::move(found));
  }
  MW_CO_TRY(placement, co_await placements_.resolve(node_class));
  selected.placement = std::move(placement);
  MW_CO_TRY(profile, co_await profiles_.ensure(node_class));
  selected.profile = std::move(profile);
  co_return selected;
}

base::Task<ApiResult<NodeClassState>> Resolver::resolve(NodeClassPtr node_class,
                                                        std::string kubernetes) {
  MW_CO_TRY(selected, co_await select(node_class, std::move(kubernetes)));
  NodeClassState state;
  state.conditions = conditions_of(selected);
  sum_up(state);
  state.status = status_json(selected.subnets, selected.groups, selected.images,
                             selected.reservations, selected.profile.name);
  state.stamp = hash_stamp(*node_class, settings_.ca_bundle);
  state.stamp->earlier = {
      {"v5", node_class_hash(*node_class, settings_.ca_bundle, HashVersion::V5)}};
  co_return state;
}

std::vector<NodeClassCondition> Resolver::conditions_of(const Selected& selected) const {
  std::vector<NodeClassCondition> conditions;
  const auto judge = [&conditions](std::string_view type, bool good, std::string_view reason,
                                   std::string message) {
    conditions.push_back(condition_of(type, good, reason, std::move(message)));
  };
  judge("SubnetsReady", !selected.subnets.empty(), "SubnetsNotFound",
        nothing_selected("subnetSelectorTerms", "subnet"));
  judge("SecurityGroupsReady", !selected.groups.empty(), "SecurityGroupsNotFound",
        nothing_selected("securityGroupSelectorTerms", "security group"));
  judge("AMIsReady", !selected.images.empty(),
        selected.image_problem.empty() ? "AMINotFound" : "UnsupportedAlias",
        selected.image_problem.empty() ? nothing_selected("amiSelectorTerms", "available image")
                                       : selected.image_problem);
  if (settings_.reserved_capacity) {
    judge("CapacityReservationsReady", true, "", "");  // a class needs no reservation
  }
  judge("InstanceProfileReady", !selected.profile.name.empty(), "InstanceProfileNotReady",
        selected.profile.problem);
  if (selected.placement) {
    conditions.push_back(*selected.placement);
  }
  return conditions;
}

}  // namespace millwright::cloud::aws
