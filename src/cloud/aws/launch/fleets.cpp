#include "cloud/aws/launch/fleets.hpp"

#include "cloud/aws/launch/ownership.hpp"
#include "cloud/common/text/digest.hpp"

#include <algorithm>
#include <numeric>

namespace millwright::cloud::aws {
namespace {

constexpr std::size_t kTokenLength = 40;  // of 64 that EC2 takes
// A NodeClaim whose launch fails is deleted minutes later.
constexpr base::Duration kFailedKept = std::chrono::hours(1);

Form form_for(const FleetOrder& order, std::string token, model::StringMap tags,
              std::size_t capacity) {
  return fleet_form({.plan = *order.plan,
                     .templates = order.templates,
                     .tags = std::move(tags),
                     .context = order.context,
                     .client_token = std::move(token),
                     .capacity = static_cast<int>(capacity)});
}

// Positions of the orders, sorted by their claims' UIDs: which claim gets which instance does not
// depend on which asked first.
std::vector<std::size_t> by_uid(const std::vector<FleetOrder>& orders) {
  std::vector<std::size_t> result(orders.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  std::sort(result.begin(), result.end(), [&](std::size_t a, std::size_t b) {
    return orders[a].claim->meta.uid < orders[b].claim->meta.uid;
  });
  return result;
}

// The bare text for the first call.
std::string numbered(const std::string& text, int number) {
  return number == 0 ? text : text + "/" + std::to_string(number);
}

}  // namespace

Fleets::Failed Fleets::failed(const std::string& uid) const {
  const auto found = failed_.find(uid);
  return found == failed_.end() ? Failed{} : found->second;
}

Form Fleets::form_for_all(const std::vector<FleetOrder>& orders,
                          const std::vector<std::size_t>& sorted) const {
  const auto& first = orders.front();
  auto tags = first.tags;
  if (orders.size() == 1) {
    tags[std::string(kClaimTag)] = first.claim->meta.name;
    const auto& uid = first.claim->meta.uid;
    tags[std::string(kClaimUidTag)] = uid;
    return form_for(first, numbered(uid, failed(uid).alone), std::move(tags), 1);
  }
  tags[std::string(kBootShapeTag)] = boot_shape(*first.claim);
  std::vector<std::string> uids;
  std::string token_text;
  for (const auto position : sorted) {
    const auto& uid = uids.emplace_back(orders[position].claim->meta.uid);
    token_text.append(numbered(uid, failed(uid).merged)).append("\n");
  }
  tags[std::string(kLaunchedForTag)] = list_of_claims(uids);
  return form_for(first, to_hex(sha256(token_text)).substr(0, kTokenLength), std::move(tags),
                  orders.size());
}

Fleets::Fleets(Api& api, base::Metrics& metrics, OnAnswer on_answer)
    : loop_(api.loop()),
      ec2_(api),
      on_answer_(std::move(on_answer)),
      batches_(
          {.loop = api.loop(), .metrics = metrics, .name = "create_fleet", .limits = kFleetLimits},
          [this](std::vector<FleetOrder> orders) { return call(std::move(orders)); }) {}

base::Task<base::Result<FleetShare>> Fleets::create(FleetOrder order) {
  auto tags = order.tags;
  tags[std::string(kBootShapeTag)] = boot_shape(*order.claim);
  const Form alike = form_for(order, "", std::move(tags), 1);
  std::string key = to_hex(sha256(alike.body()));
  if (order.alone) {
    key.append("/").append(order.claim->meta.uid);
  }
  co_return co_await batches_.ask(std::move(order), std::move(key));
}

base::Task<Batcher<FleetOrder, FleetShare>::Replies> Fleets::call(std::vector<FleetOrder> orders) {
  const auto sorted = by_uid(orders);
  Form form = form_for_all(orders, sorted);
  auto answered = co_await ec2_.create_fleet(std::move(form));
  auto shared = std::make_shared<ApiResult<FleetAnswer>>();
  if (answered) {
    *shared = read_fleet(*answered);
    on_answer_(*orders.front().plan, **shared);
  } else {
    *shared = tl::unexpected(std::move(answered).error());
  }
  FleetShare share;
  share.answer = shared;
  share.merged = orders.size() > 1;
  Batcher<FleetOrder, FleetShare>::Replies replies(orders.size(), share);
  std::size_t next = 0;
  for (const auto position : sorted) {
    if (!*shared) {
      continue;
    }
    const auto& uid = orders[position].claim->meta.uid;
    if (next < (*shared)->instances.size()) {
      replies[position]->instance = (*shared)->instances[next++];
      failed_.erase(uid);
    } else {
      auto& count = failed_[uid];
      ++(share.merged ? count.merged : count.alone);
      count.last = loop_.now();
    }
  }
  co_return replies;
}

void Fleets::sweep() {
  const auto now = loop_.now();
  std::erase_if(failed_, [now](const auto& item) { return now - item.second.last > kFailedKept; });
}

}  // namespace millwright::cloud::aws
