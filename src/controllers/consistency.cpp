#include "controllers/consistency.hpp"

#include <cmath>

namespace millwright::controllers {
namespace {

constexpr double kLeastShare = 0.90;

}  // namespace

std::string inconsistency(const model::NodeClaim& claim, const model::Node& node) {
  for (const auto& [resource, requested] : claim.requests) {
    const auto expected = model::get(claim.capacity, resource);
    if (requested.is_zero() || expected <= model::Quantity{}) {
      continue;
    }
    const auto found = model::get(node.capacity, resource);
    const double share = found.as_double() / expected.as_double();
    if (share < kLeastShare) {
      return "expected " + expected.to_string() + " of resource " + resource + ", but found " +
             found.to_string() + " (" + std::to_string(std::lround(share * 1000) / 10) + "." +
             std::to_string(std::lround(share * 1000) % 10) + "% of expected)";
    }
  }
  return {};
}

}  // namespace millwright::controllers
