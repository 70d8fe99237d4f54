#include "plane/field/figures.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace millwright::field {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(rank) - 1];
}

// Waits of pods that came in the window, or waited already when it began.
void count_pods(const sandbox::Recorder& recorder, const Window& window, Figures& figures) {
  std::vector<double> waits;
  double last_bound = 0;
  int unbound = 0;
  for (const auto& [uid, pod] : recorder.pods()) {
    const auto waited_until = pod.bound ? *pod.bound : pod.gone.value_or(window.end);
    if (waited_until < window.begin || pod.created > window.end) {
      continue;
    }
    waits.push_back(seconds_between(std::max(pod.created, window.begin), waited_until));
    if (pod.bound) {
      last_bound = std::max(last_bound, seconds_between(window.begin, *pod.bound));
    }
    unbound += !pod.bound && !pod.gone ? 1 : 0;
  }
  figures.unbound = unbound;
  if (unbound > 0) {
    figures.reasons["allBound"] = fmt::format("{} pods had no node at the end", unbound);
  } else {
    figures.all_bound = last_bound;
  }
  std::sort(waits.begin(), waits.end());
  figures.p99_pending = percentile(waits, 0.99);
  figures.max_pending = percentile(waits, 1);
}

void count_claims(const sandbox::Recorder& recorder, const Window& window, const PriceLookup& price,
                  Figures& figures) {
  constexpr double kHour = 3'600;
  int created = 0;
  int deleted = 0;
  double dollars = 0;
  for (const auto& [uid, claim] : recorder.claims()) {
    if (claim.created >= window.begin) {
      ++created;
      const double after = seconds_between(window.begin, claim.created);
      figures.first_claim = std::min(figures.first_claim.value_or(after), after);
    }
    const auto ended = claim.deleting ? claim.deleting : claim.gone;
    deleted += ended && *ended >= window.begin ? 1 : 0;
    // Paid from the claim's creation until it is gone; nothing for one that never launched.
    const auto from = std::max(claim.created, window.begin);
    const auto until = std::min(claim.gone.value_or(window.end), window.end);
    if (until > from) {
      dollars += price(claim.last->meta.labels).value_or(0) * seconds_between(from, until) / kHour;
    }
  }
  figures.claims_created = created;
  figures.claims_deleted = deleted;
  if (created == 0) {
    figures.reasons["firstClaim"] = "no NodeClaim was made";
  }
  if (window.at_rest) {
    figures.dollars = dollars;
  }
}

}  // namespace

Figures figures_of(const sandbox::Recorder& recorder, const Window& window,
                   const PriceLookup& price) {
  Figures figures;
  if (window.at_rest) {
    figures.settled = seconds_between(window.begin, window.end);
  } else {
    for (const std::string key : {"dollars", "dollarsUntilBoth", "settled"}) {
      figures.reasons[key] =
          fmt::format("not at rest after {:.0f} s", seconds_between(window.begin, window.end));
    }
  }
  count_pods(recorder, window, figures);
  count_claims(recorder, window, price, figures);
  double nodes = 0;
  double price_per_hour = 0;
  for (const auto& [uid, node] : recorder.nodes()) {
    if (!node.gone) {
      ++nodes;
      price_per_hour += price(node.last->meta.labels).value_or(0);
    }
  }
  figures.nodes = nodes;
  figures.timeline = timeline_of(recorder, window, price);
  figures.price_per_hour = price_per_hour;
  return figures;
}

Figures no_figures(const std::string& reason) {
  Figures figures;
  figures.reasons["all"] = reason;
  return figures;
}

boost::json::object to_json(const Figures& figures) {
  boost::json::object json;
  for (const auto& kind : kFigures) {
    const auto& value = figures.*kind.value;
    json[kind.key] = value ? boost::json::value(*value) : boost::json::value(nullptr);
  }
  json["timeline"] = to_json(figures.timeline);
  if (figures.outlook) {
    json["forecast"] = boost::json::object{{"nodes", figures.outlook->nodes},
                                           {"pricePerHour", figures.outlook->price_per_hour}};
  }
  if (!figures.reasons.empty()) {
    boost::json::object reasons;
    for (const auto& [key, reason] : figures.reasons) {
      reasons[key] = reason;
    }
    json["reasons"] = std::move(reasons);
  }
  return json;
}

}  // namespace millwright::field
