#include "plane/field/timeline.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace millwright::field {
namespace {

using Spans = std::vector<std::pair<double, double>>;

// To the millisecond: more digits say nothing and make a long file.
double rounded(double seconds) {
  return std::round(seconds * 1'000) / 1'000;
}

double second_of(base::TimePoint time, const Window& window) {
  return rounded(std::max(0.0, seconds_between(window.begin, std::min(time, window.end))));
}

Spans joined(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans result;
  for (const auto& span : spans) {
    if (!result.empty() && span.first <= result.back().second) {
      result.back().second = std::max(result.back().second, span.second);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

bool is_of_daemon(const model::Pod& pod) {
  const auto* const owner = pod.meta.controller();
  return owner != nullptr && owner->kind == "DaemonSet";
}

// When each node had pods that are not a DaemonSet's.
std::map<std::string, Spans, std::less<>> use_of_nodes(const sandbox::Recorder& recorder,
                                                       const Window& window) {
  std::map<std::string, Spans, std::less<>> use;
  for (const auto& [uid, pod] : recorder.pods()) {
    const auto until = pod.gone.value_or(window.end);
    if (pod.bound && *pod.bound < window.end && until > window.begin && !is_of_daemon(*pod.last)) {
      use[pod.last->spec.node_name].emplace_back(second_of(*pod.bound, window),
                                                 second_of(until, window));
    }
  }
  for (auto& [node, spans] : use) {
    spans = joined(std::move(spans));
  }
  return use;
}

std::vector<std::pair<double, int>> waiting_of(const sandbox::Recorder& recorder,
                                               const Window& window) {
  std::map<double, int> changes;
  for (const auto& [uid, pod] : recorder.pods()) {
    const auto until = pod.bound ? *pod.bound : pod.gone.value_or(window.end);
    if (until > window.begin && pod.created < window.end) {
      ++changes[second_of(pod.created, window)];
      --changes[second_of(until, window)];
    }
  }
  std::vector<std::pair<double, int>> waiting;
  int count = 0;
  for (const auto& [second, change] : changes) {
    count += change;
    if (change != 0) {
      waiting.emplace_back(second, count);
    }
  }
  return waiting;
}

}  // namespace

Timeline timeline_of(const sandbox::Recorder& recorder, const Window& window,
                     const PriceLookup& price) {
  Timeline timeline{.seconds = rounded(seconds_between(window.begin, window.end)),
                    .machines = {},
                    .waiting = waiting_of(recorder, window)};
  auto use = use_of_nodes(recorder, window);
  std::map<std::string_view, const sandbox::NodeHistory*> nodes;
  for (const auto& [uid, node] : recorder.nodes()) {
    nodes.emplace(node.last->meta.name, &node);
  }
  for (const auto& [uid, claim] : recorder.claims()) {
    if (claim.created >= window.end || claim.gone.value_or(window.end) <= window.begin) {
      continue;
    }
    MachineLife machine{.bought = second_of(claim.created, window),
                        .ready = std::nullopt,
                        .gone = std::nullopt,
                        .price = price(claim.last->meta.labels),
                        .used = {}};
    if (claim.gone && *claim.gone <= window.end) {
      machine.gone = second_of(*claim.gone, window);
    }
    if (const auto node = nodes.find(claim.last->node_name); node != nodes.end()) {
      if (node->second->ready) {
        machine.ready = second_of(*node->second->ready, window);
      }
      machine.used = std::move(use[claim.last->node_name]);
    }
    timeline.machines.push_back(std::move(machine));
  }
  std::stable_sort(timeline.machines.begin(), timeline.machines.end(),
                   [](const auto& a, const auto& b) { return a.bought < b.bought; });
  return timeline;
}

boost::json::object to_json(const Timeline& timeline) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
  };
  boost::json::array machines;
  for (const auto& machine : timeline.machines) {
    boost::json::array used;
    for (const auto& [from, until] : machine.used) {
      used.push_back(boost::json::array{from, until});
    }
    machines.push_back(boost::json::object{{"bought", machine.bought},
                                           {"ready", optional(machine.ready)},
                                           {"gone", optional(machine.gone)},
                                           {"price", optional(machine.price)},
                                           {"used", std::move(used)}});
  }
  boost::json::array waiting;
  for (const auto& [second, pods] : timeline.waiting) {
    waiting.push_back(boost::json::array{second, pods});
  }
  return {{"seconds", timeline.seconds},
          {"machines", std::move(machines)},
          {"waiting", std::move(waiting)}};
}

}  // namespace millwright::field
