#include "cloud/huawei/launch/launcher.hpp"

#include "cloud/huawei/launch/node_body.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;

// A request whose answer was lost shows in the list of nodes within this time, or never did
// anything. A guess: Huawei Cloud documents no bound.
constexpr base::Duration kShownWithin = std::chrono::seconds(30);
constexpr base::Duration kRemembered = std::chrono::hours(1);

base::Error no_node(const model::NodeClaim& claim) {
  return {ErrorKind::NotFound, "NodeClaim " + claim.meta.name + " has no CCE node", {}};
}

// CCE's messages may quote the request.
void hide(std::string& message, const std::string& secret) {
  if (secret.empty()) {
    return;
  }
  for (auto at = message.find(secret); at != std::string::npos; at = message.find(secret, at)) {
    message.replace(at, secret.size(), "***");
  }
}

}  // namespace

std::vector<Candidate> candidates_for(const model::NodeClaim& claim,
                                      const std::vector<scheduling::InstanceType>& types) {
  const scheduling::Requirements wanted(claim.requirements);
  std::vector<Candidate> result;
  for (const auto& type : types) {
    if (!wanted.compatible(type.requirements, scheduling::AllowUndefined::WellKnown) ||
        !model::fits(claim.requests, type.allocatable())) {
      continue;
    }
    for (const auto& offering : type.offerings) {
      if (offering.available &&
          wanted.compatible(offering.requirements, scheduling::AllowUndefined::WellKnown)) {
        result.push_back({type.name, std::string(offering.zone()), offering.price,
                          offering.capacity_type() == model::kSpot});
      }
    }
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::tie(a.price, b.spot, a.zone, a.flavor) <
           std::tie(b.price, a.spot, b.zone, b.flavor);
  });
  return result;
}

Launcher::Launcher(Parts parts) : parts_(std::move(parts)), inherited_(parts_.api.loop().now()) {}

base::Task<base::Result<CceNode>> Launcher::find_by_claim(ClaimPtr claim) {
  MW_CO_TRY(nodes, co_await parts_.nodes.list());
  const CceNode* found = nullptr;
  for (const auto& node : nodes) {
    const bool is_ours = node.tag(kClaimUidTag) == claim->meta.uid && !claim->meta.uid.empty();
    // Of several, which only a lost answer could leave, the one that lives, then the first by uid:
    // the same in every process. The others have no claim and are collected.
    if (is_ours && (found == nullptr || std::tuple(node.is_deleting(), node.uid) <
                                            std::tuple(found->is_deleting(), found->uid))) {
      found = &node;
    }
  }
  if (found == nullptr) {
    co_return tl::unexpected(no_node(*claim));
  }
  co_return *found;
}

void Launcher::forget(std::string_view uid) {
  std::erase_if(made_, [uid](const auto& each) { return each.second.node.uid == uid; });
}

base::Task<base::Result<CceNode>> Launcher::adopt(ClaimPtr claim) {
  const auto now = parts_.api.loop().now();
  std::erase_if(doubts_, [now](const auto& each) { return now - each.second > kRemembered; });
  std::erase_if(made_, [now](const auto& each) { return now - each.second.when > kRemembered; });
  if (const auto made = made_.find(claim->meta.uid); made != made_.end()) {
    co_return made->second.node;
  }
  const auto doubt = doubts_.find(claim->meta.uid);
  const bool in_doubt = doubt != doubts_.end();
  if (!in_doubt && !inherited_.contains(*claim)) {
    co_return tl::unexpected(no_node(*claim));
  }
  // Another replica may have led since our own request.
  const auto since = in_doubt ? doubt->second : inherited_.since();
  const auto until =
      (inherited_.contains(*claim) ? std::max(since, inherited_.since()) : since) + kShownWithin;
  auto found = co_await find_by_claim(claim);
  if (!found && found.error().kind != ErrorKind::NotFound) {
    co_return found;
  }
  if (!found && parts_.api.loop().now() < until) {
    co_return base::fail(ErrorKind::Unavailable,
                         "NodeClaim " + claim->meta.name +
                             ": the answer to an earlier launch may be lost; waiting for its node "
                             "to show before another is asked for");
  }
  doubts_.erase(claim->meta.uid);
  if (found) {
    remember(*claim, *found);
  }
  co_return found;
}

void Launcher::remember(const model::NodeClaim& claim, const CceNode& node) {
  made_.insert_or_assign(claim.meta.uid, Made{node, parts_.api.loop().now()});
}

base::Task<ApiResult<CceNode>> Launcher::order(ClaimPtr claim, NodeClassPtr node_class,
                                               Candidate candidate) {
  const auto spec = read_spec(*node_class);
  const auto subnets = read_subnets(*node_class);
  const NodeOrder wanted{.flavor = candidate.flavor,
                         .zone = candidate.zone,
                         .subnet = parts_.resolver.choose_subnet(subnets),
                         .spot = candidate.spot};
  auto body = node_body(wanted, *claim, spec);
  // In doubt until the answer arrives, even when nobody waits for it any more.
  doubts_[claim->meta.uid] = parts_.api.loop().now();
  auto made = co_await parts_.nodes.create(std::move(body));
  if (made) {
    parts_.resolver.take_address(wanted.subnet);
    doubts_.erase(claim->meta.uid);
    remember(*claim, *made);
    co_return made;
  }
  if (may_have_taken_effect(made.error())) {
    doubts_[claim->meta.uid] = parts_.api.loop().now();
  } else {
    doubts_.erase(claim->meta.uid);
  }
  hide(made.error().message, spec.password);
  co_return made;
}

base::Task<base::Result<CceNode>> Launcher::launch(ClaimPtr claim, NodeClassPtr node_class) {
  const auto where = "NodeClaim " + claim->meta.name;
  const auto types = parts_.catalog.types(*node_class, parts_.api.loop().now());
  const auto candidates = candidates_for(*claim, *types);
  std::string refused;
  std::set<std::string, std::less<>> unfit;
  for (const auto& candidate : candidates) {
    if (unfit.contains(candidate.flavor)) {
      continue;
    }
    auto made = co_await order(claim, node_class, candidate);
    if (made) {
      co_return *std::move(made);
    }
    if (made.error().kind != ErrorKind::NoCapacity) {
      base::Error error = std::move(made).error();
      co_return base::with_context(where, std::move(error));
    }
    const auto now = parts_.api.loop().now();
    auto& marks = parts_.catalog.unavailable();
    if (is_unfit_for_network(made.error())) {
      // So it is in every zone and market.
      unfit.insert(candidate.flavor);
      marks.mark(candidate.flavor, "", model::kOnDemand, now);
      marks.mark(candidate.flavor, "", model::kSpot, now);
    } else {
      marks.mark(candidate.flavor, candidate.zone, candidate.capacity_type(), now);
    }
    parts_.restock.marked();
    refused = made.error().message;
    parts_.log.info("an offering is sold out",
                    {{"instance-type", candidate.flavor},
                     {"zone", candidate.zone},
                     {"capacity-type", std::string(candidate.capacity_type())},
                     {"error", refused}});
  }
  co_return base::fail(
      ErrorKind::NoCapacity,
      where + (refused.empty()
                   ? ": no available flavor fits its requirements and requests"
                   : ": every flavor that fits is sold out; the last answer: " + refused));
}

}  // namespace millwright::cloud::huawei
