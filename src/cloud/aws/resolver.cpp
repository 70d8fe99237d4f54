#include "cloud/aws/resolver.hpp"

#include "cloud/aws/digest.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr base::Duration kFixedParameterKept = std::chrono::hours(24);
constexpr base::Duration kMovingParameterKept = std::chrono::minutes(5);
constexpr base::Duration kProfileKept = std::chrono::minutes(15);

Filter tag_filter(const std::string& key, const std::string& value) {
  return value == "*" ? Filter{"tag-key", {key}} : Filter{"tag:" + key, {value}};
}

std::vector<Filter> tag_filters(const model::StringMap& tags) {
  std::vector<Filter> filters;
  for (const auto& [key, value] : tags) {
    filters.push_back(tag_filter(key, value));
  }
  return filters;
}

// One filter list per call: all ids in one, all names in one, each tag term by itself.
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

struct ImageQuery {
  std::vector<Filter> filters;
  std::vector<std::string> owners;
};

// Images by id, name and tags, as DescribeImages is asked for them.
std::vector<ImageQuery> image_queries(const std::vector<SelectorTerm>& terms) {
  std::vector<ImageQuery> queries;
  std::vector<std::string> ids;
  for (const auto& term : terms) {
    if (!term.id.empty()) {
      ids.push_back(term.id);
      continue;
    }
    ImageQuery query;
    if (!term.name.empty()) {
      query.filters.push_back({"name", {term.name}});
    }
    for (auto& filter : tag_filters(term.tags)) {
      query.filters.push_back(std::move(filter));
    }
    if (query.filters.empty()) {
      continue;  // an alias or a parameter
    }
    if (!term.owner.empty()) {
      query.owners = {term.owner};
    } else if (!term.name.empty()) {
      query.owners = {"self", "amazon"};  // names are nobody's property
    }
    queries.push_back(std::move(query));
  }
  if (!ids.empty()) {
    queries.push_back({{{"image-id", std::move(ids)}}, {}});
  }
  for (auto& query : queries) {
    query.filters.push_back({"state", {"available"}});
  }
  return queries;
}

// Newest first; deprecated ones after all others.
bool is_preferred(const Image& a, const Image& b) {
  if (a.deprecated != b.deprecated) {
    return b.deprecated;
  }
  return a.created != b.created ? a.created > b.created : a.id < b.id;
}

// The best image of each set of requirements.
std::vector<ResolvedImage> best_of(
    std::vector<std::pair<Image, std::vector<model::SelectorRequirement>>> candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return is_preferred(a.first, b.first); });
  std::vector<ResolvedImage> result;
  for (auto& [image, requirements] : candidates) {
    const bool taken = std::any_of(result.begin(), result.end(), [&](const auto& better) {
      return better.requirements == requirements;
    });
    if (!taken) {
      result.push_back({image.id, image.name, image.deprecated, std::move(requirements)});
    }
  }
  return result;
}

std::string nothing_selected(std::string_view field, std::string_view what) {
  return std::string("spec.")
      .append(field)
      .append(" selects no ")
      .append(what)
      .append("; check ids, names, tags and the region");
}

// Reason and message count when it is not good.
NodeClassCondition judged(std::string_view type, bool good, std::string_view reason,
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

// Ready when all conditions are good; else for the first one's reason.
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

std::vector<model::SelectorRequirement> requirements_of(const Image& image) {
  std::vector<model::SelectorRequirement> result{
      {.key = std::string(model::kArchLabel), .op = model::Operator::In, .values = {image.arch}}};
  for (const auto& [key, value] : image.tags) {
    if (model::is_well_known_label(key) && key != model::kArchLabel) {
      result.push_back({.key = key, .op = model::Operator::In, .values = {value}});
    }
  }
  return result;
}

std::int64_t Resolver::free_addresses(std::string_view subnet) const {
  const auto found = free_addresses_.find(subnet);
  return found == free_addresses_.end() ? 0 : found->second;
}

std::string Resolver::profile_path(const model::NodeClass& node_class) const {
  return "/karpenter/" + api_.endpoints().region() + "/" + cluster_name_ + "/" +
         node_class.meta.uid + "/";
}

base::Task<ApiResult<std::vector<Subnet>>> Resolver::find_subnets(std::vector<SelectorTerm> terms) {
  std::vector<Subnet> found;
  for (const auto& filters : calls_for(terms, "subnet-id", "")) {
    auto answered = co_await ec2_.subnets(filters);
    MW_CO_TRY(subnets, std::move(answered));
    found.insert(found.end(), subnets.begin(), subnets.end());
  }
  sort_and_unique(found);
  for (const auto& subnet : found) {
    free_addresses_[subnet.id] = subnet.free_addresses;
  }
  co_return found;
}

base::Task<ApiResult<std::vector<ResolvedGroup>>> Resolver::find_groups(
    std::vector<SelectorTerm> terms) {
  std::vector<ResolvedGroup> found;
  for (const auto& filters : calls_for(terms, "group-id", "group-name")) {
    auto answered = co_await ec2_.security_groups(filters);
    MW_CO_TRY(groups, std::move(answered));
    found.insert(found.end(), groups.begin(), groups.end());
  }
  sort_and_unique(found);
  co_return found;
}

base::Task<ApiResult<std::optional<std::string>>> Resolver::parameter(std::string name,
                                                                      bool fixed) {
  const auto now = api_.loop().now();
  const auto kept = parameters_.find(name);
  if (kept != parameters_.end() && now < kept->second.until) {
    co_return std::optional(kept->second.value);
  }
  auto asked = co_await get_parameter(api_, name);
  if (!asked && asked.error().kind == ErrorKind::NotFound) {
    co_return std::optional<std::string>();
  }
  MW_CO_TRY(value, std::move(asked));
  parameters_[name] = {value, now + (fixed ? kFixedParameterKept : kMovingParameterKept)};
  co_return std::optional(value);
}

// Image ids (in `parameter`) that aliases and parameters stand for, with their requirements; none
// where the image has to tell them itself.
base::Task<ApiResult<std::vector<AliasedImage>>> Resolver::find_parameters(NodeClassSpec spec,
                                                                           std::string kubernetes) {
  std::vector<AliasedImage> wanted;
  std::set<std::string> fixed;
  for (const auto& term : spec.image_terms) {
    if (!term.ssm_parameter.empty()) {
      wanted.push_back({term.ssm_parameter, {}});
    }
    if (!term.alias.empty()) {
      const auto version = term.alias.substr(term.alias.find('@') + 1);
      // With family Custom the alias still names the images of its own family.
      model::NodeClass named;
      named.spec = {{"amiSelectorTerms", json::array{{{"alias", term.alias}}}}};
      for (auto& each : images_of_alias(read_spec(named).family, version, kubernetes)) {
        if (version != "latest") {
          fixed.insert(each.parameter);
        }
        wanted.push_back(std::move(each));
      }
    }
  }
  std::vector<AliasedImage> found;
  for (auto& each : wanted) {
    auto asked = co_await parameter(each.parameter, fixed.contains(each.parameter));
    MW_CO_TRY(id, std::move(asked));
    if (id && !id->empty()) {
      found.push_back({*id, std::move(each.requirements)});
    }
  }
  co_return found;
}

base::Task<ApiResult<std::vector<ResolvedImage>>> Resolver::find_images(NodeClassSpec spec,
                                                                        std::string kubernetes) {
  std::vector<std::pair<Image, std::vector<model::SelectorRequirement>>> candidates;
  for (const auto& query : image_queries(spec.image_terms)) {
    auto answered = co_await ec2_.images(query.filters, query.owners);
    MW_CO_TRY(images, std::move(answered));
    for (auto& image : images) {
      auto requirements = requirements_of(image);
      candidates.emplace_back(std::move(image), std::move(requirements));
    }
  }
  auto named = co_await find_parameters(spec, kubernetes);
  MW_CO_TRY(aliased, std::move(named));
  if (!aliased.empty()) {
    std::vector<std::string> ids;
    for (const auto& each : aliased) {
      ids.push_back(each.parameter);
    }
    std::vector<Filter> filters{{"image-id", ids}, {"state", {"available"}}};
    std::vector<std::string> any_owner;
    auto answered = co_await ec2_.images(std::move(filters), std::move(any_owner));
    MW_CO_TRY(images, std::move(answered));
    for (const auto& each : aliased) {
      const auto image = std::find_if(images.begin(), images.end(),
                                      [&](const Image& i) { return i.id == each.parameter; });
      if (image != images.end()) {
        candidates.emplace_back(
            *image, each.requirements.empty() ? requirements_of(*image) : each.requirements);
      }
    }
  }
  co_return best_of(std::move(candidates));
}

base::Task<ApiResult<Resolver::Profile>> Resolver::ensure_profile(
    std::shared_ptr<const model::NodeClass> node_class) {
  Profile profile;
  const auto spec = read_spec(*node_class);
  if (spec.role.empty()) {
    profile.name = spec.instance_profile;
    co_return profile;
  }
  const auto seed = api_.endpoints().region() + "/" + spec.name + "/" + spec.uid;
  const auto suffix = to_hex(sha256(seed)).substr(0, 16);
  ProfileRequest request;
  request.name = cluster_name_.substr(0, 100) + "_" + suffix;
  request.path = profile_path(*node_class);
  request.role = spec.role;
  request.tags = spec.tags;
  request.tags["kubernetes.io/cluster/" + cluster_name_] = "owned";
  request.tags["eks:eks-cluster-name"] = cluster_name_;
  request.tags["karpenter.k8s.aws/ec2nodeclass"] = spec.name;
  request.tags[std::string(model::kRegionLabel)] = api_.endpoints().region();
  auto& kept = profiles_[request.name];
  const auto now = api_.loop().now();
  profile.name = request.name;
  if (kept.value == spec.role && now < kept.until) {
    co_return profile;
  }
  auto ensured = co_await ensure_instance_profile(api_, request);
  if (!ensured) {
    const auto& error = ensured.error();
    const bool refused = error.kind == ErrorKind::NotFound || error.kind == ErrorKind::Denied ||
                         error.kind == ErrorKind::Invalid;
    if (!refused) {
      co_return tl::unexpected(std::move(ensured).error());
    }
    profile.name.clear();
    profile.problem = "spec.role \"" + spec.role + "\": " + error.message;
    co_return profile;
  }
  profiles_[request.name] = {spec.role, now + kProfileKept};
  co_return profile;
}

base::Task<ApiResult<NodeClassState>> Resolver::resolve(
    std::shared_ptr<const model::NodeClass> node_class, std::string kubernetes) {
  const auto spec = read_spec(*node_class);
  Selected selected;
  auto subnets = co_await find_subnets(spec.subnet_terms);
  MW_CO_TRY(found_subnets, std::move(subnets));
  selected.subnets = std::move(found_subnets);
  auto groups = co_await find_groups(spec.security_group_terms);
  MW_CO_TRY(found_groups, std::move(groups));
  selected.groups = std::move(found_groups);
  const bool by_alias = std::any_of(spec.image_terms.begin(), spec.image_terms.end(),
                                    [](const SelectorTerm& term) { return !term.alias.empty(); });
  if (by_alias) {
    selected.image_problem = unsupported_alias(spec.family, kubernetes);
  }
  if (selected.image_problem.empty()) {
    auto images = co_await find_images(spec, kubernetes);
    MW_CO_TRY(found_images, std::move(images));
    selected.images = std::move(found_images);
  }
  if (reserved_capacity_) {
    auto reserved = co_await find_reservations(api_, spec.reservation_terms);
    MW_CO_TRY(found_reservations, std::move(reserved));
    keep_reservations(std::move(found_reservations), selected.reservations);
  }
  auto placed = co_await resolve_placement(node_class);
  MW_CO_TRY(placement, std::move(placed));
  auto ensured = co_await ensure_profile(node_class);
  MW_CO_TRY(profile, std::move(ensured));

  NodeClassState state;
  const auto judge = [&state](std::string_view type, bool good, std::string_view reason,
                              std::string message) {
    state.conditions.push_back(judged(type, good, reason, std::move(message)));
  };
  judge("SubnetsReady", !selected.subnets.empty(), "SubnetsNotFound",
        nothing_selected("subnetSelectorTerms", "subnet"));
  judge("SecurityGroupsReady", !selected.groups.empty(), "SecurityGroupsNotFound",
        nothing_selected("securityGroupSelectorTerms", "security group"));
  judge("AMIsReady", !selected.images.empty(),
        selected.image_problem.empty() ? "AMINotFound" : "UnsupportedAlias",
        selected.image_problem.empty() ? nothing_selected("amiSelectorTerms", "available image")
                                       : selected.image_problem);
  if (reserved_capacity_) {
    judge("CapacityReservationsReady", true, "", "");  // none is fine
  }
  judge("InstanceProfileReady", !profile.name.empty(), "InstanceProfileNotReady", profile.problem);
  if (placement) {
    state.conditions.push_back(*std::move(placement));
  }
  sum_up(state);
  state.status = status_json(selected.subnets, selected.groups, selected.images,
                             selected.reservations, profile.name);
  state.annotations[std::string(kHashAnnotation)] = static_hash(*node_class);
  state.annotations[std::string(kHashVersionAnnotation)] = kHashVersion;
  co_return state;
}

}  // namespace millwright::cloud::aws
