#include "app/shadow/shadow_report.hpp"

#include "app/tables/text_table.hpp"
#include "millwright/model/labels.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace millwright::app {
namespace {

// Rows of what would have been bought, at most.
constexpr std::size_t kMostBoughtTold = 30;

std::string now_of(std::string_view whose, const DayFigures& figures) {
  const auto& now = figures.moments.back();
  return fmt::format("{} has {} node(s) at ${:.4f}/h and {} pod(s) waiting", whose, now.nodes,
                     now.price, now.waiting);
}

void add_bought(std::string& text, const std::vector<WouldBuy>& bought) {
  if (bought.empty()) {
    text += "It would have bought nothing.\n";
    return;
  }
  std::vector<Row> rows;
  for (const auto& each : bought) {
    if (rows.size() == kMostBoughtTold) {
      break;
    }
    rows.push_back({one_line(each.node_pool), one_line(each.instance_type), one_line(each.zone),
                    one_line(each.capacity_type), std::to_string(each.machines),
                    each.price ? fmt::format("${:.4f}/h", *each.price) : "?"});
  }
  const std::vector<Column> columns{{.heading = "NODEPOOL"}, {.heading = "TYPE"},
                                    {.heading = "ZONE"},     {.heading = "CAPACITY"},
                                    {.heading = "MACHINES"}, {.heading = "EACH"}};
  text += "It would have bought:\n" + text_table(columns, rows, {.indent = 2});
  if (bought.size() > rows.size()) {
    text += fmt::format("  and {} more kinds of machines\n", bought.size() - rows.size());
  }
}

std::string label_of(const model::StringMap& labels, std::string_view key) {
  const auto found = labels.find(std::string(key));
  return found == labels.end() ? std::string() : found->second;
}

using Kind = std::array<std::string, 4>;

Kind kind_of(const model::StringMap& labels) {
  return {label_of(labels, model::kNodePoolLabel), label_of(labels, model::kInstanceTypeLabel),
          label_of(labels, model::kZoneLabel), label_of(labels, model::kCapacityTypeLabel)};
}

bool was_launched(const sandbox::ClaimRecord& claim) {
  return claim.launched.has_value();
}

}  // namespace

std::vector<WouldBuy> would_buy(const sandbox::Recorder& shadow, base::TimePoint since,
                                const sandbox::Recorder::PriceLookup& price) {
  std::map<Kind, WouldBuy> kinds;
  for (const auto& [uid, claim] : shadow.claims()) {
    if (claim.created > since && was_launched(claim)) {
      const auto& labels = claim.last->meta.labels;
      const auto kind = kind_of(labels);
      auto& would = kinds
                        .try_emplace(kind, WouldBuy{.node_pool = kind[0],
                                                    .instance_type = kind[1],
                                                    .zone = kind[2],
                                                    .capacity_type = kind[3],
                                                    .machines = 0,
                                                    .price = price(labels)})
                        .first->second;
      ++would.machines;
    }
  }
  std::vector<WouldBuy> all;
  for (auto& [kind, would] : kinds) {
    all.push_back(std::move(would));
  }
  return all;
}

std::string to_text(const ShadowReport& report) {
  const auto& courses = report.courses;
  std::string text = fmt::format(
      "Shadowed the cluster for {} from {}; nothing was bought and nothing written.\n{}; {}.\n",
      base::format_human_duration(courses.end - courses.start), base::format_rfc3339(courses.start),
      now_of("The cluster", courses.recorded), now_of("the shadow", courses.replayed));
  add_bought(text, report.bought);
  return text + courses_text(courses, {.recorded = "CLUSTER", .replayed = "SHADOW"});
}

}  // namespace millwright::app
