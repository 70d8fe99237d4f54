#include "plane/field/figures.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace millwright::field {
namespace {

double seconds_between(base::TimePoint from, base::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

// Waits of pods that came in the window, or waited already when it began.
void count_pods(const sandbox::Recorder& recorder, const Window& window, Figures& figures) {
  std::vector<double> waits;
  for (const auto& [uid, pod] : recorder.pods()) {
    const auto end = pod.bound ? *pod.bound : pod.gone.value_or(window.settled);
    if (end < window.begin || pod.created > window.settled) {
      continue;
    }
    waits.push_back(seconds_between(std::max(pod.created, window.begin), end));
    if (pod.bound) {
      figures.all_bound =
          std::max(figures.all_bound.value_or(0), seconds_between(window.begin, *pod.bound));
    } else if (!pod.gone) {
      ++figures.unbound;
    }
  }
  if (waits.empty()) {
    return;
  }
  std::sort(waits.begin(), waits.end());
  const auto rank = std::ceil(0.99 * static_cast<double>(waits.size()));
  figures.p99_pending = waits[static_cast<std::size_t>(rank) - 1];
  figures.max_pending = waits.back();
}

void count_claims(const sandbox::Recorder& recorder, const Window& window, const PriceLookup& price,
                  Figures& figures) {
  constexpr double kHour = 3'600;
  for (const auto& [uid, claim] : recorder.claims()) {
    if (claim.created >= window.begin) {
      ++figures.claims_created;
      const double after = seconds_between(window.begin, claim.created);
      figures.first_claim = std::min(figures.first_claim.value_or(after), after);
    }
    const auto ended = claim.deleting ? claim.deleting : claim.gone;
    figures.claims_deleted += ended && *ended >= window.begin ? 1 : 0;
    // Paid from the claim's creation until it is gone; nothing for one that never launched.
    const auto from = std::max(claim.created, window.begin);
    const auto until = std::min(claim.gone.value_or(window.settled), window.settled);
    if (until > from) {
      figures.dollars +=
          price(claim.last->meta.labels).value_or(0) * seconds_between(from, until) / kHour;
    }
  }
}

}  // namespace

Figures figures_of(const sandbox::Recorder& recorder, const Window& window,
                   const PriceLookup& price) {
  Figures figures;
  figures.settled = seconds_between(window.begin, window.settled);
  count_pods(recorder, window, figures);
  count_claims(recorder, window, price, figures);
  for (const auto& [uid, node] : recorder.nodes()) {
    if (!node.gone) {
      ++figures.nodes;
      figures.price_per_hour += price(node.last->meta.labels).value_or(0);
    }
  }
  return figures;
}

boost::json::object to_json(const Figures& figures) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
  };
  return {{"firstClaim", or_null(figures.first_claim)},
          {"allBound", or_null(figures.all_bound)},
          {"maxPending", figures.max_pending},
          {"p99Pending", figures.p99_pending},
          {"unbound", figures.unbound},
          {"claimsCreated", figures.claims_created},
          {"claimsDeleted", figures.claims_deleted},
          {"evicted", figures.evicted},
          {"nodes", figures.nodes},
          {"pricePerHour", figures.price_per_hour},
          {"dollars", figures.dollars},
          {"settled", figures.settled},
          {"requests", figures.requests},
          {"cpuSeconds", figures.cpu_seconds},
          {"peakRssMiB", figures.peak_rss_mib}};
}

}  // namespace millwright::field
