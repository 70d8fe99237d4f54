#include "controllers/nodeclaim/repair/repair_reports.hpp"

#include <cctype>

namespace millwright::controllers {
namespace {

constexpr auto kSayHeldBackAgain = std::chrono::minutes(15);

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

void RepairReports::tell_held_back(Services& services, const scheduling::NodeRecord& record,
                                   Cause cause, const std::string& message) {
  const auto tell = [&](const model::Resource& resource, const model::ObjectMeta& meta) {
    services.events.record(
        {.object = kube::reference_to(resource, meta),
         .warning = true,
         .reason = "NodeRepairBlocked",
         .message = message,
         .dedupe_values = {cause == Cause::TooManyBroken ? "too many broken" : "budgets"},
         .dedupe_for = kSayHeldBackAgain});
  };
  if (const auto pool = find_pool(*services.state.snapshot(), record.node_pool())) {
    tell(model::kNodePoolResource, pool->meta);
  }
  if (pace_.take(services.loop.now())) {
    tell(model::kNodeResource, record.node->meta);
    tell(model::kNodeClaimResource, record.claim->meta);
  }
}

void count_repair(Services& services, const model::NodeClaim& claim, std::string_view condition) {
  services.metrics.count("karpenter_nodeclaims_unhealthy_disrupted_total",
                         "NodeClaims removed because their node stayed broken, by its condition.",
                         {{"condition", snake_case(condition)},
                          {"nodepool", claim.meta.label(model::kNodePoolLabel)},
                          {"capacity_type", claim.meta.label(model::kCapacityTypeLabel)},
                          {"image_id", claim.image_id}});
}

std::string snake_case(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_another = i > 0 && !is_upper(text[i - 1]) && text[i - 1] != '_';
    const bool ends_capitals =
        i > 0 && is_upper(text[i - 1]) && i + 1 < text.size() && is_lower(text[i + 1]);
    if (is_upper(text[i]) && (after_another || ends_capitals)) {
      result += '_';
    }
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  return result;
}

}  // namespace millwright::controllers
