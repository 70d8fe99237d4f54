#include "app/console/console_view.hpp"

#include "millwright/scheduling/solve.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace millwright::app {
namespace {

namespace json = boost::json;
using telemetry::DecisionKind;

constexpr std::size_t kMostKeptFor = 5;
constexpr std::size_t kMostSubjects = 10;

std::string time_text(base::TimePoint time) {
  return base::format_rfc3339(time);
}

// What part of the node the requests take, in thousandths: of CPU or of memory, whichever is more.
std::int64_t share_of(const model::ResourceList& requests, const model::ResourceList& allocatable) {
  double most = 0;
  for (const auto resource : {model::kCpu, model::kMemory}) {
    const double there = model::get(allocatable, resource).as_double();
    if (there > 0) {
      most = std::max(most, model::get(requests, resource).as_double() / there);
    }
  }
  return std::llround(most * 1000);
}

// [["namespace/name", thousandths], ...], the largest first; what is beyond `most` is counted:
// [null, thousandths, pods].
std::string pods_json(const scheduling::NodeRecord& record, std::size_t most) {
  const auto allocatable = record.allocatable();
  std::vector<std::pair<std::int64_t, std::string>> pods;
  for (const auto& pod : record.pods) {
    pods.emplace_back(share_of(scheduling::effective_requests(*pod), allocatable),
                      model::key_of(pod->meta).to_string());
  }
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  json::array named;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (i < most) {
      named.push_back(json::array{pods[i].second, pods[i].first});
    } else {
      others += pods[i].first;
    }
  }
  if (pods.size() > most) {
    named.push_back(json::array{nullptr, others, pods.size() - most});
  }
  return json::serialize(named);
}

struct KeptRoom {
  std::int64_t share = 0;
  std::vector<std::string> whom;
};

std::map<std::string_view, KeptRoom> kept_room(const scheduling::Snapshot& snapshot) {
  std::map<std::string_view, const scheduling::NodeRecord*> records;
  for (const auto& record : snapshot.nodes) {
    records[record->name()] = record.get();
  }
  std::map<std::string_view, KeptRoom> rooms;
  for (const auto& reservation : snapshot.reservations) {
    const auto found = records.find(reservation.target);
    if (found == records.end() || reservation.count <= 0) {
      continue;
    }
    auto& room = rooms[found->first];
    room.share += reservation.count * share_of(reservation.requests, found->second->allocatable());
    if (room.whom.size() < kMostKeptFor) {
      room.whom.push_back(scheduling::describe_pods(reservation));
    }
  }
  return rooms;
}

json::object node_json(const NodeRow& row, const KeptRoom* room, base::TimePoint now) {
  json::object node{{"name", row.name},
                    {"pool", row.node_pool},
                    {"type", row.instance_type},
                    {"zone", row.zone},
                    {"capacity", row.capacity_type},
                    {"state", row.state},
                    {"cpu", row.cpu},
                    {"cpuAsked", row.cpu_requested},
                    {"memory", row.memory},
                    {"memoryAsked", row.memory_requested},
                    {"podCount", row.pods}};
  if (row.price) {
    node["price"] = *row.price;
  }
  if (row.age) {
    node["created"] = time_text(now - *row.age);
  }
  if (row.kept > 0) {
    node["kept"] = row.kept;
    node["keptShare"] = room != nullptr ? room->share : 0;
    json::array whom;
    for (const auto& pods : room != nullptr ? room->whom : std::vector<std::string>()) {
      whom.emplace_back(pods);
    }
    node["keptFor"] = std::move(whom);
  }
  return node;
}

// `object` with one more member, which is JSON already.
std::string with_member(const json::object& object, std::string_view name, std::string_view value) {
  std::string text = json::serialize(object);
  text.back() = ',';
  return text.append("\"").append(name).append("\":").append(value).append("}");
}

// Those that were counted for the same record.
const ConsoleView::Pods* pods_of(const ConsoleView& view, const scheduling::NodeRecordPtr& record) {
  const auto found = view.pods.find(record->name());
  return found == view.pods.end() || found->second.record != record ? nullptr : &found->second;
}

void show_nodes(ConsoleView& view, const ClusterView& cluster, const ViewParts& parts,
                const ConsoleView* before) {
  const auto rooms = kept_room(parts.snapshot);
  view.pods_of_each = std::min(
      kMostNamedOnANode, kMostNamedPods / std::max<std::size_t>(parts.snapshot.nodes.size(), 1));
  const bool counted_alike = before != nullptr && before->pods_of_each == view.pods_of_each;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {  // in the order of the snapshot's
    const auto& row = cluster.nodes[i];
    const auto& record = parts.snapshot.nodes[i];
    const auto* known = counted_alike ? pods_of(*before, record) : nullptr;
    ConsoleView::Pods pods{
        .record = record,
        .json = known != nullptr ? known->json : pods_json(*record, view.pods_of_each)};
    const auto room = rooms.find(row.name);
    view.nodes[row.name] =
        with_member(node_json(row, room == rooms.end() ? nullptr : &room->second, cluster.time),
                    "pods", pods.json);
    view.pods[row.name] = std::move(pods);
  }
}

void show_waiting(ConsoleView& view, const ClusterView& cluster) {
  json::array waiting;
  for (const auto& row : cluster.waiting) {
    waiting.push_back(json::object{{"pod", row.pod},
                                   {"pods", row.pods},
                                   {"since", time_text(cluster.time - row.since)},
                                   {"why", row.why}});
  }
  view.waiting = json::serialize(waiting);
}

void show_totals(ConsoleView& view, const ClusterView& cluster, const Decisions& decisions) {
  double price = 0;
  std::size_t without_price = 0;
  std::size_t pods = 0;
  std::size_t kept = 0;
  for (const auto& row : cluster.nodes) {
    price += row.price.value_or(0);
    without_price += row.price ? 0 : 1;
    pods += row.pods;
    kept += row.kept;
  }
  double saved = 0;
  for (const auto& decision : decisions) {
    saved += decision->kind == DecisionKind::Removal ? decision->saved.value_or(0) : 0;
  }
  json::array pools;
  for (const auto& name : cluster.node_pools) {
    pools.emplace_back(name);
  }
  view.totals = json::serialize(json::object{{"nodes", cluster.nodes.size()},
                                             {"price", price},
                                             {"withoutPrice", without_price},
                                             {"pods", pods},
                                             {"kept", kept},
                                             {"waiting", cluster.pods_waiting},
                                             {"saved", saved},
                                             {"pools", std::move(pools)}});
}

json::object decision_json(const telemetry::Decision& decision) {
  json::object shown{{"number", decision.number},
                     {"time", time_text(decision.time)},
                     {"kind", std::string(telemetry::to_string(decision.kind))},
                     {"message", decision.message}};
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) {
      shown[name] = text;
    }
  };
  add("cause", decision.cause);
  add("remedy", decision.remedy);
  add("pool", decision.node_pool);
  if (decision.price) {
    shown["price"] = *decision.price;
  }
  if (decision.saved) {
    shown["saved"] = *decision.saved;
  }
  json::array about;
  for (const auto& subject : decision.about) {
    if (about.size() < kMostSubjects) {
      about.push_back(json::object{
          {"kind", subject.kind}, {"namespace", subject.namespace_}, {"name", subject.name}});
    }
  }
  shown["about"] = std::move(about);
  return shown;
}

void show_decisions(ConsoleView& view, const Decisions& decisions) {
  std::size_t kept = 0;
  std::size_t others = 0;
  for (auto it = decisions.rbegin(); it != decisions.rend(); ++it) {
    const auto& decision = **it;
    const bool stays = decision.kind == DecisionKind::Kept;
    auto& count = stays ? kept : others;
    if (count++ < (stays ? kMostShownKept : kMostShownDecisions)) {
      view.decisions.emplace_back(decision.number, json::serialize(decision_json(decision)));
    }
  }
  std::sort(view.decisions.begin(), view.decisions.end());
}

// A JSON array of what is JSON already.
class Items {
 public:
  void add(std::string_view item) { text_.append(text_.size() == 1 ? "" : ",").append(item); }
  bool empty() const { return text_.size() == 1; }
  std::string take() { return std::move(text_) + "]"; }

 private:
  std::string text_ = "[";
};

std::string begin_json(const ConsoleView& view) {
  return "{\"time\":" + json::serialize(json::value(time_text(view.time)));
}

void append_member(std::string& text, std::string_view name, std::string_view value) {
  text.append(",\"").append(name).append("\":").append(value);
}

}  // namespace

ConsoleView console_view(const ViewParts& parts, const ConsoleView* before) {
  const auto cluster = view_of(parts);
  ConsoleView view;
  view.time = cluster.time;
  show_nodes(view, cluster, parts, before);
  show_waiting(view, cluster);
  show_totals(view, cluster, parts.decisions);
  show_decisions(view, parts.decisions);
  return view;
}

std::string whole_json(const ConsoleView& view) {
  Items nodes;
  for (const auto& [name, node] : view.nodes) {
    nodes.add(node);
  }
  Items decisions;
  for (const auto& [number, decision] : view.decisions) {
    decisions.add(decision);
  }
  std::string text = begin_json(view);
  append_member(text, "totals", view.totals);
  append_member(text, "nodes", nodes.take());
  append_member(text, "waiting", view.waiting);
  append_member(text, "decisions", decisions.take());
  return text + "}";
}

std::string changes_json(const ConsoleView& before, const ConsoleView& after) {
  Items nodes;
  for (const auto& [name, node] : after.nodes) {
    const auto found = before.nodes.find(name);
    if (found == before.nodes.end() || found->second != node) {
      nodes.add(node);
    }
  }
  Items gone;
  for (const auto& [name, node] : before.nodes) {
    if (!after.nodes.contains(name)) {
      gone.add(json::serialize(json::value(name)));
    }
  }
  Items decisions;
  const std::uint64_t last = before.decisions.empty() ? 0 : before.decisions.back().first;
  for (const auto& [number, decision] : after.decisions) {
    if (number > last) {
      decisions.add(decision);
    }
  }
  std::string text;
  const auto add = [&](std::string_view name, Items& items) {
    if (!items.empty()) {
      append_member(text, name, items.take());
    }
  };
  if (before.totals != after.totals) {
    append_member(text, "totals", after.totals);
  }
  add("nodes", nodes);
  add("gone", gone);
  if (before.waiting != after.waiting) {
    append_member(text, "waiting", after.waiting);
  }
  add("decisions", decisions);
  return text.empty() ? text : begin_json(after) + text + "}";
}

}  // namespace millwright::app
