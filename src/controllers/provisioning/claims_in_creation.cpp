#include "millwright/controllers/provisioning/claims_in_creation.hpp"

#include <chrono>
#include <utility>

namespace millwright::controllers {
namespace {

// No decision is carried out so long after its snapshot.
constexpr auto kForgetAfter = std::chrono::minutes(10);

}  // namespace

void ClaimsInCreation::begin(Purchase purchase) {
  auto name = purchase.name;
  in_creation_.insert_or_assign(std::move(name), std::move(purchase));
}

void ClaimsInCreation::succeed(std::string_view name, base::TimePoint now) {
  while (!recent_.empty() && recent_.front().since + kForgetAfter < now) {
    recent_.pop_front();
  }
  const auto found = in_creation_.find(name);
  if (found == in_creation_.end()) {
    return;
  }
  ++shown_;
  if (!found->second.charge.empty()) {
    recent_.push_back({.purchase = std::move(found->second), .shown = shown_, .since = now});
  }
  in_creation_.erase(found);
}

void ClaimsInCreation::fail(std::string_view name) {
  if (const auto found = in_creation_.find(name); found != in_creation_.end()) {
    in_creation_.erase(found);
  }
}

bool ClaimsInCreation::contains(std::string_view name) const {
  return in_creation_.contains(name);
}

std::optional<std::string> ClaimsInCreation::exceeded_limit(std::string_view node_pool,
                                                            std::string_view decision,
                                                            Shown snapshot,
                                                            const model::ResourceList& left) const {
  if (left.empty()) {
    return std::nullopt;
  }
  model::ResourceList bought;
  const auto count = [&](const Purchase& purchase) {
    if (purchase.node_pool == node_pool && purchase.decision != decision) {
      model::add_to(bought, purchase.charge);
    }
  };
  for (const auto& [_, purchase] : in_creation_) {
    count(purchase);
  }
  for (auto each = recent_.rbegin(); each != recent_.rend() && each->shown > snapshot; ++each) {
    count(each->purchase);
  }
  for (const auto& [name, quantity] : bought) {
    const auto limit = left.find(name);
    if (limit != left.end() && quantity > limit->second) {
      return name;
    }
  }
  return std::nullopt;
}

}  // namespace millwright::controllers
