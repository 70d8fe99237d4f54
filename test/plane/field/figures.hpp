// What came of a piece of work, as its users would see it: how long pods waited, how many machines
// were bought and given back, how many pods were evicted, what it cost. Computed from what watches
// told a recorder, so the same figures can be had of any autoscaler and of any clock.
#pragma once

#include "plane/field/timeline.hpp"
#include "plane/field/window.hpp"

#include <boost/json/value.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::field {

// What was forecast for the end of it, before it began.
struct Outlook {
  double nodes = 0;
  double price_per_hour = 0;
};

// Seconds are from the work's beginning. A figure that cannot be told is null.
struct Figures {
  using Value = std::optional<double>;
  Value first_claim;  // until the first NodeClaim was made
  Value all_bound;    // until the last pod was bound; 0: none had to be
  Value max_pending;  // seconds that a pod waited for its node
  Value p99_pending;
  Value unbound;  // pods that had no node at the end
  Value claims_created;
  Value claims_deleted;
  Value evicted;
  Value nodes;               // at the end
  Value price_per_hour;      // at the end
  Value dollars;             // spent until nothing moved any more
  Value dollars_until_both;  // until nothing moved any more on either side
  Value settled;             // until nothing moved any more
  Value requests;            // of the controller to the API server
  Value cpu_seconds;         // of the controller
  Value peak_rss_mib;        // of the controller, since it was started

  Timeline timeline;
  std::optional<Outlook> outlook;

  std::map<std::string, std::string> reasons;  // why a figure is null, by its key; "all": all are
};

struct FigureKind {
  std::string_view key;  // in JSON
  std::string_view heading;
  int digits;
  Figures::Value Figures::*value;
};

// Every figure, in the order in which they are shown.
inline constexpr std::array kFigures{
    FigureKind{"firstClaim", "claim s", 2, &Figures::first_claim},
    FigureKind{"allBound", "bound s", 1, &Figures::all_bound},
    FigureKind{"maxPending", "wait s", 2, &Figures::max_pending},
    FigureKind{"p99Pending", "p99 s", 2, &Figures::p99_pending},
    FigureKind{"unbound", "unbound", 0, &Figures::unbound},
    FigureKind{"claimsCreated", "made", 0, &Figures::claims_created},
    FigureKind{"claimsDeleted", "deleted", 0, &Figures::claims_deleted},
    FigureKind{"evicted", "evicted", 0, &Figures::evicted},
    FigureKind{"nodes", "nodes", 0, &Figures::nodes},
    FigureKind{"pricePerHour", "$/h", 3, &Figures::price_per_hour},
    FigureKind{"dollars", "$", 4, &Figures::dollars},
    FigureKind{"dollarsUntilBoth", "$ both", 4, &Figures::dollars_until_both},
    FigureKind{"settled", "settle s", 1, &Figures::settled},
    FigureKind{"requests", "calls", 0, &Figures::requests},
    FigureKind{"cpuSeconds", "cpu s", 1, &Figures::cpu_seconds},
    FigureKind{"peakRssMiB", "MiB", 0, &Figures::peak_rss_mib}};

// All that watches can tell; evictions, requests, CPU and memory are for the caller to add.
Figures figures_of(const sandbox::Recorder& recorder, const Window& window,
                   const PriceLookup& price);

// Nothing can be told, for this reason.
Figures no_figures(const std::string& reason);

boost::json::object to_json(const Figures& figures);

}  // namespace millwright::field
