#include "cloud/aws/launch/fleets.hpp"

#include "cloud/aws/launch/ownership.hpp"
#include "cloud/common/text/digest.hpp"

#include <algorithm>
#include <numeric>

namespace millwright::cloud::aws {
namespace {

constexpr std::size_t kTokenLength = 40;  // of 64 that EC2 takes

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

Form form_for_all(const std::vector<FleetOrder>& orders, const std::vector<std::size_t>& sorted) {
  const auto& first = orders.front();
  auto tags = first.tags;
  if (orders.size() == 1) {
    tags[std::string(kClaimTag)] = first.claim->meta.name;
    tags[std::string(kClaimUidTag)] = first.claim->meta.uid;
    return form_for(first, first.claim->meta.uid, std::move(tags), 1);
  }
  tags[std::string(kBootShapeTag)] = boot_shape(*first.claim);
  std::string uids;
  for (const auto position : sorted) {
    uids.append(orders[position].claim->meta.uid).append("\n");
  }
  return form_for(first, to_hex(sha256(uids)).substr(0, kTokenLength), std::move(tags),
                  orders.size());
}

}  // namespace

Fleets::Fleets(Api& api, base::Metrics& metrics, OnAnswer on_answer)
    : ec2_(api),
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
    if (*shared && next < (*shared)->instances.size()) {
      replies[position]->instance = (*shared)->instances[next++];
    }
  }
  co_return replies;
}

}  // namespace millwright::cloud::aws
