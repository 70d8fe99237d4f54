#include "cloud/alibaba/launch/launcher.hpp"

#include "cloud/alibaba/launch/user_data.hpp"

#include <algorithm>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

// An instance that an earlier process launched shows in ECS's lists within this time of our start,
// or there is none. A guess: Alibaba Cloud documents no bound.
constexpr base::Duration kShownWithin = std::chrono::seconds(30);
// A launch is recorded within seconds. A NodeClaim whose launch is not recorded is deleted by then.
constexpr base::Duration kRemembered = std::chrono::hours(1);
// A policy is mended, and a zone gets other disks, without anybody telling us.
constexpr base::Duration kRefusalKept = std::chrono::hours(1);
// Of a class that names none.
constexpr std::string_view kUsualDisk = "cloud_essd";

// A call that is made again with its token is answered with what the first one launched, or with
// why nothing can be. Any other refusal says nothing of the first one: also that of a disk, which
// ECS may validate before it looks at the token.
bool leaves_doubt(const ApiError& error, bool was_in_doubt) {
  return may_have_taken_effect(error) || (was_in_doubt && !is_capacity_problem(error.code));
}

// The planner looks for another offering, as if this one were sold out for the class.
ApiError no_disk_category(const Candidate& candidate) {
  ApiError error;
  error.kind = ErrorKind::NoCapacity;
  error.code = "InvalidSystemDiskCategory";
  error.message =
      candidate.type + " in " + candidate.zone +
      " takes none of the class's spec.systemDisk.categories: InvalidSystemDiskCategory";
  return error;
}

template <class Key>
bool is_kept(const std::map<Key, base::TimePoint>& until, const Key& key, base::TimePoint now) {
  const auto found = until.find(key);
  return found != until.end() && now < found->second;
}

Launched launched_as(const LaunchPlan& plan, const Candidate& candidate, std::string id) {
  return {.instance_id = std::move(id),
          .type = candidate.type,
          .zone = candidate.zone,
          .capacity_type = plan.capacity_type,
          .image_id = plan.image_id};
}

base::Error no_instance(const model::NodeClaim& claim) {
  return {ErrorKind::NotFound, "NodeClaim " + claim.meta.name + " has no instance yet", {}};
}

tl::unexpected<base::Error> for_claim(const ClaimPtr& claim, const base::Error& error) {
  return base::with_context("NodeClaim " + claim->meta.name, error);
}

}  // namespace

Launcher::Launcher(Parts parts)
    : parts_(std::move(parts)),
      ecs_(parts_.api),
      scripts_(parts_.api),
      inherited_(parts_.api.loop().now()) {}

void Launcher::forget(const std::string& claim_uid) {
  unsure_.erase(claim_uid);
  made_.erase(claim_uid);
}

base::Task<base::Result<Launched>> Launcher::adopt(ClaimPtr claim) {
  const auto now = parts_.api.loop().now();
  std::erase_if(made_, [now](const auto& each) { return now - each.second.when > kRemembered; });
  if (const auto made = made_.find(claim->meta.uid); made != made_.end()) {
    co_return made->second.launched;  // the claim's status could not be written yet
  }
  const bool unsure = unsure_.contains(claim->meta.uid);
  if (!unsure && !inherited_.contains(*claim)) {
    co_return tl::unexpected(no_instance(*claim));
  }
  auto found = co_await find_by_claim(claim);
  if (found) {
    unsure_.erase(claim->meta.uid);
    remember(*claim, *found);
    co_return found;
  }
  // Another process' request cannot be repeated: the script that it got from ACK is not ours, and
  // neither is its ClientToken. It may have led since our own request.
  if (inherited_.contains(*claim) && found.error().kind == ErrorKind::NotFound &&
      parts_.api.loop().now() < inherited_.since() + kShownWithin) {
    co_return base::fail(ErrorKind::Unavailable,
                         "NodeClaim " + claim->meta.name +
                             ": an earlier process may have launched its instance; waiting for it "
                             "to show before another is asked for");
  }
  co_return found;
}

base::Task<base::Result<Launched>> Launcher::find_by_claim(ClaimPtr claim) {
  const Tags tags{{ownership_tag(parts_.cluster_id), "owned"},
                  {std::string(kClaimUidTag), claim->meta.uid}};
  MW_CO_TRY(found, co_await ecs_.instances_by_tags(tags));
  // The server's filter is not trusted with whose instance this is.
  std::erase_if(found, [&](const EcsInstance& each) {
    return each.tag(kClaimUidTag) != claim->meta.uid || each.is_recycling;
  });
  if (found.empty()) {
    co_return tl::unexpected(no_instance(*claim));
  }
  const auto& first =
      *std::min_element(found.begin(), found.end(),
                        [](const EcsInstance& a, const EcsInstance& b) { return a.id < b.id; });
  co_return Launched{.instance_id = first.id,
                     .type = first.type,
                     .zone = first.zone,
                     .capacity_type = std::string(first.capacity_type()),
                     .image_id = first.image_id};
}

base::Task<base::Result<std::string>> Launcher::user_data(ClaimPtr claim, NodeClassSpec spec,
                                                          std::string arch) {
  if (parts_.custom_cluster) {
    co_return spec.user_data;
  }
  AttachQuestion question{
      .cluster_id = parts_.cluster_id, .arch = arch, .format_disk = spec.format_data_disk};
  MW_CO_TRY(script, co_await scripts_.get(std::move(question)));
  co_return make_user_data(
      {.claim = *claim, .spec = spec, .cluster_id = parts_.cluster_id, .attach_script = script});
}

base::Task<base::Result<Launcher::Order>> Launcher::prepare(ClaimPtr claim,
                                                            NodeClassPtr node_class) {
  Order order{.claim = claim,
              .spec = read_spec(*node_class),
              .findings = read_status(*node_class),
              .plan = {},
              .user_data = {}};
  const auto types = parts_.catalog.types(*node_class, claim->meta.labels, parts_.api.loop().now());
  auto planned = plan_launch(*claim, {.types = *types,
                                      .spec = order.spec,
                                      .findings = order.findings,
                                      .free_addresses = [this](std::string_view id) {
                                        return parts_.resolver.free_addresses(id);
                                      }});
  MW_CO_TRY(plan, std::move(planned));
  order.plan = std::move(plan);
  MW_CO_TRY(text, co_await user_data(claim, order.spec, order.plan.arch));
  order.user_data = std::move(text);
  co_return order;
}

base::Task<base::Result<Launched>> Launcher::launch(ClaimPtr claim, NodeClassPtr node_class) {
  auto launched = co_await launch_or_repeat(claim, std::move(node_class));
  if (launched) {
    remember(*claim, *launched);
  }
  co_return launched;
}

void Launcher::remember(const model::NodeClaim& claim, const Launched& launched) {
  made_.insert_or_assign(claim.meta.uid,
                         Made{.launched = launched, .when = parts_.api.loop().now()});
}

base::Task<base::Result<Launched>> Launcher::launch_or_repeat(ClaimPtr claim,
                                                              NodeClassPtr node_class) {
  if (const auto unsure = unsure_.find(claim->meta.uid); unsure != unsure_.end()) {
    Unsure before = unsure->second;
    if (before.by_group) {
      co_return co_await by_group(std::move(before.order));
    }
    co_return co_await one_by_one(std::move(before.order), before.candidate,
                                  std::move(before.disk_category));
  }
  auto prepared = co_await prepare(claim, std::move(node_class));
  if (!prepared) {
    co_return for_claim(claim, prepared.error());
  }
  if (is_group_refused(prepared->spec) || needs_single_launch(prepared->spec)) {
    co_return co_await one_by_one(*std::move(prepared), 0, {});
  }
  co_return co_await by_group(*std::move(prepared));
}

base::Task<base::Result<Launched>> Launcher::by_group(Order order) {
  const auto uid = order.claim->meta.uid;
  const bool was_in_doubt = unsure_.contains(uid);
  const auto since = in_doubt_since(uid);
  unsure_.insert_or_assign(
      uid,
      Unsure{
          .order = order, .since = since, .by_group = true, .candidate = 0, .disk_category = {}});
  auto request = group_request({.claim = *order.claim,
                                .spec = order.spec,
                                .findings = order.findings,
                                .plan = order.plan,
                                .cluster_id = parts_.cluster_id,
                                .user_data = order.user_data});
  auto answered = co_await ecs_.create_group(std::move(request));
  const bool is_forbidden = !answered && answered.error().code.starts_with("Forbidden") &&
                            !is_account_problem(answered.error().code);
  // What a call before may have launched would have shown by then, and it was looked for.
  const bool is_over = is_forbidden && since + kShownWithin <= parts_.api.loop().now();
  if (!answered && !is_over && leaves_doubt(answered.error(), was_in_doubt)) {
    co_return for_claim(order.claim, answered.error());
  }
  unsure_.erase(uid);
  if (answered) {
    co_return judge(order, *answered);
  }
  const auto& error = answered.error();
  if (is_forbidden) {
    parts_.log.warn("auto provisioning groups are not permitted; launching with RunInstances",
                    {{"error", error.message}});
    group_refused_[Catalog::scope_name(order.spec)] = parts_.api.loop().now() + kRefusalKept;
    co_return co_await one_by_one(std::move(order), 0, {});
  }
  if (is_capacity_problem(error.code)) {
    for (const auto& candidate : order.plan.candidates) {
      mark(order, candidate, error.code);
    }
    parts_.restock.marked();
  }
  co_return for_claim(order.claim, answered.error());
}

base::Result<Launched> Launcher::judge(const Order& order,
                                       const std::vector<GroupLaunch>& launches) {
  std::string reasons;
  base::Error refusal{ErrorKind::NoCapacity, {}, {}};
  bool any_marked = false;
  for (const auto& launch : launches) {
    const auto& candidates = order.plan.candidates;
    const auto candidate =
        std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& each) {
          return each.type == launch.type && (launch.zone.empty() || each.zone == launch.zone);
        });
    if (!launch.instance_ids.empty()) {
      const auto& chosen = candidate == candidates.end() ? candidates.front() : *candidate;
      parts_.resolver.take_address(chosen.vswitch);
      auto result = launched_as(order.plan, chosen, launch.instance_ids.front());
      // What ECS says it launched counts, not what was asked for.
      result.type = launch.type.empty() ? result.type : launch.type;
      result.zone = launch.zone.empty() ? result.zone : launch.zone;
      return result;
    }
    if (launch.error_code.empty()) {
      continue;
    }
    const auto told = coded_error("launch", launch.error_code, launch.error_message);
    if (told.kind != ErrorKind::NoCapacity) {
      refusal = {told.kind, told.message, told.retry_after};
    } else if (candidate != candidates.end()) {
      mark(order, *candidate, launch.error_code);
      any_marked = true;
    }
    const auto what = launch.type + " in " + launch.zone + ": " + launch.error_code;
    reasons.append(reasons.empty() ? "" : "; ").append(what);
  }
  if (refusal.kind == ErrorKind::NoCapacity) {
    refusal.message = "Alibaba Cloud has no capacity: " + (reasons.empty() ? "no reason" : reasons);
    if (!any_marked) {
      // Nothing was launched and no offering blamed: all that were asked for are to blame.
      for (const auto& candidate : order.plan.candidates) {
        mark(order, candidate, {});
      }
    }
    parts_.restock.marked();
  }
  return for_claim(order.claim, refusal);
}

base::TimePoint Launcher::in_doubt_since(const std::string& claim_uid) const {
  const auto found = unsure_.find(claim_uid);
  return found == unsure_.end() ? parts_.api.loop().now() : found->second.since;
}

// Also when the claim was forgotten while its call was under way.
bool Launcher::is_in_doubt(const model::NodeClaim& claim, const ApiError& error) const {
  return unsure_.contains(claim.meta.uid) || may_have_taken_effect(error);
}

bool Launcher::is_group_refused(const NodeClassSpec& spec) const {
  return is_kept(group_refused_, Catalog::scope_name(spec), parts_.api.loop().now());
}

std::string Launcher::disk_category_for(const NodeClassSpec& spec,
                                        const Candidate& candidate) const {
  auto categories = spec.system_disk.categories;
  if (categories.empty()) {
    categories.emplace_back(kUsualDisk);
  }
  const auto now = parts_.api.loop().now();
  const auto found =
      std::find_if(categories.begin(), categories.end(), [&](const std::string& category) {
        return !is_kept(disk_refused_, {candidate.type, candidate.zone, category}, now);
      });
  return found == categories.end() ? std::string() : *found;
}

base::Task<base::Result<Launched>> Launcher::one_by_one(Order order, std::size_t first,
                                                        std::string disk_category) {
  base::Error last{ErrorKind::NoCapacity, "nothing could be tried", {}};
  const bool repeats = unsure_.contains(order.claim->meta.uid);
  for (auto number = first; number < order.plan.candidates.size(); ++number) {
    const auto& candidate = order.plan.candidates[number];
    auto launched = co_await run(order, number, std::exchange(disk_category, {}));
    if (launched) {
      parts_.resolver.take_address(candidate.vswitch);
      co_return launched_as(order.plan, candidate, *std::move(launched));
    }
    const ApiError error = std::move(launched).error();
    if (is_in_doubt(*order.claim, error) || error.kind != ErrorKind::NoCapacity) {
      co_return for_claim(order.claim, error);
    }
    mark(order, candidate, error.code);
    parts_.restock.marked();
    last = {error.kind, error.message, error.retry_after};
    if (repeats) {
      break;  // a call before may arrive yet: nothing else is launched for the claim
    }
  }
  co_return for_claim(order.claim, last);
}

base::Task<ApiResult<std::string>> Launcher::run(Order order, std::size_t number,
                                                 std::string disk_category) {
  const auto& candidate = order.plan.candidates[number];
  if (disk_category.empty()) {
    disk_category = disk_category_for(order.spec, candidate);
  }
  while (!disk_category.empty()) {
    auto launched = co_await run_once(order, number, disk_category);
    if (launched || is_in_doubt(*order.claim, launched.error()) ||
        !is_system_disk_problem(launched.error().code)) {
      co_return launched;
    }
    const auto now = parts_.api.loop().now();
    std::erase_if(disk_refused_, [now](const auto& each) { return each.second <= now; });
    disk_refused_[{candidate.type, candidate.zone, disk_category}] = now + kRefusalKept;
    parts_.log.info("a category of system disks is not taken",
                    {{"type", candidate.type},
                     {"zone", candidate.zone},
                     {"category", disk_category},
                     {"error", launched.error().message}});
    disk_category = disk_category_for(order.spec, candidate);
  }
  co_return tl::unexpected(no_disk_category(candidate));
}

base::Task<ApiResult<std::string>> Launcher::run_once(Order order, std::size_t number,
                                                      std::string disk_category) {
  const auto uid = order.claim->meta.uid;
  const bool was_in_doubt = unsure_.contains(uid);
  unsure_.insert_or_assign(uid, Unsure{.order = order,
                                       .since = in_doubt_since(uid),
                                       .by_group = false,
                                       .candidate = number,
                                       .disk_category = disk_category});
  auto request = run_request({.claim = *order.claim,
                              .spec = order.spec,
                              .findings = order.findings,
                              .plan = order.plan,
                              .cluster_id = parts_.cluster_id,
                              .user_data = order.user_data},
                             order.plan.candidates[number], disk_category);
  auto launched = co_await ecs_.run_instance(std::move(request));
  if (launched || !leaves_doubt(launched.error(), was_in_doubt)) {
    unsure_.erase(uid);
  }
  co_return launched;
}

void Launcher::mark(const Order& order, const Candidate& candidate, std::string_view code) {
  if (is_vswitch_full(code)) {
    parts_.resolver.mark_full(candidate.vswitch);
  }
  // An account's quota is of all zones.
  const auto zone = code.starts_with("QuotaExceed") ? std::string_view() : candidate.zone;
  // The class's disks are to blame: other classes may ask for ones that are taken.
  const auto only_for =
      is_system_disk_problem(code) ? Catalog::scope_name(order.spec) : std::string();
  parts_.catalog.unavailable().mark(candidate.type, zone, order.plan.capacity_type,
                                    parts_.api.loop().now(), {.node_class = only_for});
}

}  // namespace millwright::cloud::alibaba
