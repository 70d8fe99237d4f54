#include "plane/field/comparison.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::field {
namespace {

constexpr double kFirstClaimSeconds = 0.2;
// Sums of the same prices in another order differ by less.
constexpr double kRounding = 1e-6;

// How much of the peer's figure ours may be.
struct Share {
  std::string_view key;
  double of_peer;
};
constexpr std::array kShares{Share{"allBound", 0.7},    Share{"maxPending", 1},
                             Share{"claimsCreated", 1}, Share{"evicted", 1},
                             Share{"pricePerHour", 1},  Share{"dollars", 1},
                             Share{"requests", 1},      Share{"cpuSeconds", 1}};

double last_step(const Phase& phase) {
  return phase.steps.empty() ? 0 : phase.steps.back().at;
}

// The most that this figure of ours may be; nullopt: no target.
std::optional<double> limit_of(const FigureKind& kind, const Pair& pair) {
  if (kind.key == "firstClaim") {
    return pair.phase.begins_without_room ? std::optional(kFirstClaimSeconds) : std::nullopt;
  }
  const auto* share = std::find_if(kShares.begin(), kShares.end(),
                                   [&](const Share& each) { return each.key == kind.key; });
  const auto peer = pair.peer ? (*pair.peer).*kind.value : std::nullopt;
  if (share == kShares.end() || !peer) {
    return std::nullopt;
  }
  // Pods may be bound for the last time before the last step, which takes pods away.
  const double common = kind.key == "allBound" ? std::min(last_step(pair.phase), *peer) : 0;
  return common + share->of_peer * (*peer - common);
}

bool misses(const FigureKind& kind, const Pair& pair) {
  const auto limit = limit_of(kind, pair);
  if (!limit || !pair.ours) {
    return false;
  }
  const auto& ours = (*pair.ours).*kind.value;
  return !ours || *ours > *limit * (1 + kRounding) + kRounding;
}

std::string number(const Figures::Value& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string ratio(const Figures::Value& ours, const Figures::Value& peer) {
  return ours && peer && *peer > 0 ? fmt::format("{:.2f}", *ours / *peer) : "";
}

}  // namespace

void add_dollars_until_both(Pair& pair) {
  constexpr double kHour = 3'600;
  if (!pair.ours || !pair.peer || !pair.ours->settled || !pair.peer->settled) {
    return;
  }
  const double both = std::max(*pair.ours->settled, *pair.peer->settled);
  for (auto* side : {&*pair.ours, &*pair.peer}) {
    side->dollars_until_both = side->dollars.value_or(0) +
                               (both - *side->settled) * side->price_per_hour.value_or(0) / kHour;
  }
}

std::vector<std::string_view> missed_targets(const Pair& pair) {
  std::vector<std::string_view> missed;
  for (const auto& kind : kFigures) {
    if (misses(kind, pair)) {
      missed.push_back(kind.key);
    }
  }
  return missed;
}

std::string comparison_text(const Pair& pair) {
  std::string text =
      fmt::format("{:<26} {:>10} {:>10} {:>7}\n", pair.phase.name, "here", "Karpenter", "ratio");
  const Figures none;
  const auto& ours = pair.ours ? *pair.ours : none;
  const auto& peer = pair.peer ? *pair.peer : none;
  for (const auto& kind : kFigures) {
    const auto& own = ours.*kind.value;
    const auto& other = peer.*kind.value;
    const auto limit = limit_of(kind, pair);
    text += fmt::format("  {:<24} {:>10} {:>10} {:>7}{}{}\n", kind.heading,
                        number(own, kind.digits), number(other, kind.digits), ratio(own, other),
                        limit ? fmt::format("  at most {}", number(limit, kind.digits)) : "",
                        misses(kind, pair) ? "  MISSED" : "");
  }
  return text;
}

boost::json::object to_json(const Pair& pair) {
  boost::json::object json{{"name", pair.phase.name}};
  if (pair.ours) {
    json["ours"] = to_json(*pair.ours);
  }
  if (pair.peer) {
    json["peer"] = to_json(*pair.peer);
  }
  if (pair.ours && pair.peer) {
    boost::json::array missed;
    for (const auto key : missed_targets(pair)) {
      missed.emplace_back(key);
    }
    json["missed"] = std::move(missed);
  }
  return json;
}

}  // namespace millwright::field
