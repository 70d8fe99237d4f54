#include "cloud/huawei/node_class/resolver.hpp"

#include "cloud/huawei/node_class/node_class_hash.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;

NodeClassCondition condition_of(std::string_view type, std::string_view reason,
                                std::string problem) {
  NodeClassCondition condition;
  condition.type = type;
  condition.good = problem.empty();
  if (!condition.good) {
    condition.reason = reason;
    condition.message = std::move(problem);
  }
  return condition;
}

bool meets(const Subnet& subnet, const SubnetTerm& term) {
  return (term.id.empty() || term.id == subnet.id) &&
         (term.name.empty() || term.name == subnet.name);
}

}  // namespace

std::vector<std::string> selected_subnets(std::span<const SubnetTerm> terms,
                                          std::span<const Subnet> subnets) {
  std::vector<std::string> ids;
  for (const auto& subnet : subnets) {
    if (std::any_of(terms.begin(), terms.end(),
                    [&](const auto& term) { return meets(subnet, term); })) {
      ids.push_back(subnet.id);
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// CCE wants the base64 of SHA-512 crypt text, "$6$<salt>$...": "JDYk" is how that begins.
std::string spec_problem(const NodeClassSpec& spec) {
  constexpr std::string_view kCrypted = "JDYk";
  if (spec.ssh_key.empty() && !spec.password.starts_with(kCrypted)) {
    return "spec.login.userPassword.password: expected a password that is salted and hashed "
           "(SHA-512 crypt, \"$6$...\") and then base64-encoded, as CCE takes it; "
           "openssl passwd -6 | base64 -w 0 makes one";
  }
  return {};
}

base::Task<ApiResult<std::vector<Subnet>>> Resolver::subnets() {
  const auto now = api_.loop().now();
  if (now >= known_until_) {
    MW_CO_TRY(listed, co_await list_subnets(api_));
    known_ = std::move(listed);
    taken_.clear();
    known_until_ = now + kSubnetsKept;
  }
  co_return known_;
}

base::Task<base::Result<NodeClassState>> Resolver::resolve(NodeClassPtr node_class) {
  const auto spec = read_spec(*node_class);
  MW_CO_TRY(all, co_await subnets());
  const auto ids = selected_subnets(spec.subnet_terms, all);
  json::array found;
  for (const auto& id : ids) {
    found.push_back(json::object{{"id", id}});
  }
  NodeClassState state;
  state.status = json::object{{"subnets", std::move(found)}};
  state.conditions.push_back(condition_of(
      "SubnetsReady", "SubnetsNotFound",
      ids.empty() ? "spec.subnetSelectorTerms selects no subnet that is active; correct its terms"
                  : ""));
  state.conditions.push_back(
      condition_of(model::kValidationSucceeded, "InvalidSpec", spec_problem(spec)));
  state.ready = true;
  for (const auto& condition : state.conditions) {
    if (!condition.good && state.ready) {
      state.ready = false;
      state.reason = condition.reason;
      state.message = condition.message;
    }
  }
  state.stamp = hash_stamp(*node_class);
  co_return state;
}

std::int64_t Resolver::free_addresses(const std::string& id) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& subnet) { return subnet.id == id; });
  const auto taken = taken_.find(id);
  return (found == known_.end() ? 0 : found->free_addresses) -
         (taken == taken_.end() ? 0 : taken->second);
}

std::string Resolver::choose_subnet(std::span<const std::string> ids) const {
  const auto best = std::max_element(ids.begin(), ids.end(), [this](const auto& a, const auto& b) {
    return free_addresses(a) < free_addresses(b);
  });
  return best == ids.end() ? std::string() : *best;
}

}  // namespace millwright::cloud::huawei
