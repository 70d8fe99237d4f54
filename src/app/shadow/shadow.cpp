#include "app/shadow/shadow.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace millwright::app {
namespace {

// Kinds are listed one after the other, so at first a Node may be there whose NodeClaim just went.
constexpr int kAttemptsToBegin = 12;
constexpr auto kBetweenAttempts = std::chrono::seconds(5);
constexpr auto kBetweenJobEnds = std::chrono::seconds(1);
constexpr auto kBetweenMetrics = std::chrono::seconds(30);
// Where only the totals and the last moment are wanted.
constexpr std::size_t kFewestMoments = 2;

}  // namespace

Shadow::Shadow(ShadowParts parts)
    : parts_(std::move(parts)),
      day_(parts_.client.loop(),
           [this](const DayStep& step) {
             if (stand_in_) {
               stand_in_->take(step);
             }
           }),
      watching_({.client = parts_.client,
                 .redaction = parts_.redaction,
                 .write = [this](std::string_view line) { return take_line(line); },
                 .duration = std::nullopt,
                 .most_bytes = std::numeric_limits<std::uint64_t>::max(),
                 .seed = parts_.stand_in.seed,
                 .log = parts_.log}),
      group_(parts_.client.loop()) {}

base::Task<base::Result<>> Shadow::run(std::stop_token stop) {
  const std::stop_callback end_when_stopped(stop, [this] { group_.request_stop(); });
  group_.spawn(watch_cluster());
  co_await group_.join();
  end_ = loop().now();
  if (stand_in_) {
    co_await stand_in_->cluster().stop();
  }
  if (failure_) {
    co_return tl::unexpected(*failure_);
  }
  co_return base::Result<>();
}

base::Task<void> Shadow::watch_cluster() {
  auto outcome = co_await watching_.run(group_.stop_token());
  if (!outcome) {
    fail(std::move(outcome).error());
  }
}

// The lines are those of a recording: what a recording leaves out, the shadow does not know either.
base::Result<> Shadow::take_line(std::string_view text) {
  auto line = parse_recording_line(text);
  if (!line) {
    // The header, and objects without what every API server gives them.
    unread_ += parse_recording_header(text) ? 0 : 1;
    return {};
  }
  if (line->kind == RecordingLine::Kind::Listed) {
    listed(*line);
  } else if (line->kind != RecordingLine::Kind::End) {
    const std::string name = line->key.to_string();
    const auto* resource = line->resource;
    if (const auto taken = day_.take(*std::move(line)); !taken) {
      ++unread_;
      parts_.log.warn("an object cannot be read and is left out",
                      {{std::string(resource->kind), name}, {"error", taken.error().message}});
    }
  }
  return {};
}

void Shadow::listed(const RecordingLine& line) {
  for (const auto& resource : line.without) {
    notes_.push_back("without " + resource + ": they could not be listed");
    parts_.log.warn("not listable: the shadow does without them", {{"resource", resource}});
  }
  group_.spawn(begin());
}

base::Task<void> Shadow::begin() {
  auto opened = open();
  for (int attempt = 1; !opened && attempt < kAttemptsToBegin; ++attempt) {
    parts_.log.warn("the cluster cannot be shadowed yet", {{"error", opened.error().message}});
    const bool slept = co_await base::sleep(loop(), kBetweenAttempts, group_.stop_token());
    if (!slept) {
      co_return;
    }
    opened = open();
  }
  if (!opened) {
    fail(std::move(opened).error());
    co_return;
  }
  co_await base::yield(loop());
  stand_in_->cluster().start();
  start_ = loop().now();
  parts_.log.info("the shadow has begun");
  group_.spawn(serve_job_ends());
  group_.spawn(keep_metrics());
  group_.spawn(keep_telling());
}

base::Result<> Shadow::open() {
  if (const auto node = day_.node_without_claim(); !node.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "Node " + node +
                          " is of a NodePool, and its NodeClaim is not there; let the account list "
                          "nodeclaims, or start again when the node is gone");
  }
  MW_TRY(stock, take_stock(day_.begin()));
  auto options = parts_.stand_in;
  if (options.clouds.empty()) {
    options.clouds.assign(stock.clouds.begin(), stock.clouds.end());
  }
  if (options.clouds.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "there is no NodeClass in the cluster, so nothing could be bought: create "
                      "NodePools and their NodeClasses, which buys nothing without an autoscaler");
  }
  MW_TRY(made, ReplayCluster::make(loop(), parts_.compute, std::move(options), stock.objects));
  stand_in_ = std::move(made);
  notes_.insert(notes_.end(), stock.notes.begin(), stock.notes.end());
  return {};
}

base::Task<void> Shadow::serve_job_ends() {
  bool goes_on = true;
  while (goes_on) {
    day_.job_ends().serve(stand_in_->cluster().world().api(), loop().now());
    goes_on = co_await base::sleep(loop(), kBetweenJobEnds, group_.stop_token());
  }
}

base::Task<void> Shadow::keep_metrics() {
  bool goes_on = true;
  while (goes_on) {
    const auto both = courses(kFewestMoments);
    set_metrics("cluster", both.recorded);
    set_metrics("shadow", both.replayed);
    goes_on = co_await base::sleep(loop(), kBetweenMetrics, group_.stop_token());
  }
}

base::Task<void> Shadow::keep_telling() {
  bool goes_on = co_await base::sleep(loop(), parts_.report_every, group_.stop_token());
  while (goes_on) {
    tell();
    goes_on = co_await base::sleep(loop(), parts_.report_every, group_.stop_token());
  }
}

void Shadow::fail(base::Error error) {
  if (!failure_) {
    failure_ = std::move(error);
    group_.request_stop();
  }
}

ReplayReport Shadow::courses(std::size_t moments) const {
  const DayBounds bounds{.start = start_.value_or(loop().now()),
                         .end = end_.value_or(loop().now()),
                         .moments = moments};
  const auto price = [this](const model::StringMap& labels) { return stand_in_->price(labels); };
  return {.start = bounds.start,
          .end = bounds.end,
          .seed = parts_.stand_in.seed,
          .recorded = figures_of(day_.recorded(), bounds, price),
          .replayed = figures_of(stand_in_->recorder(), bounds, price),
          .notes = {}};
}

std::optional<ShadowReport> Shadow::report() const {
  if (!start_) {
    return std::nullopt;
  }
  ShadowReport report{
      .courses = courses(moments_of(end_.value_or(loop().now()) - *start_)),
      .bought = would_buy(stand_in_->recorder(), *start_, [this](const model::StringMap& labels) {
        return stand_in_->price(labels);
      })};
  auto& notes = report.courses.notes;
  notes = notes_;
  for (auto&& note : stand_in_->notes()) {
    notes.push_back(std::move(note));
  }
  if (unread_ > 0) {
    notes.push_back(std::to_string(unread_) + " version(s) of objects could not be read");
  }
  return report;
}

void Shadow::tell() const {
  const auto both = courses(kFewestMoments);
  const auto dollars = [](double value) { return fmt::format("{:.4f}", value); };
  const auto& cluster = both.recorded.moments.back();
  const auto& shadow = both.replayed.moments.back();
  parts_.log.info("the shadow so far",
                  {{"since", base::format_rfc3339(both.start)},
                   {"cost", dollars(both.replayed.cost)},
                   {"cluster-cost", dollars(both.recorded.cost)},
                   {"price-per-hour", dollars(shadow.price)},
                   {"cluster-price-per-hour", dollars(cluster.price)},
                   {"nodes", std::to_string(shadow.nodes)},
                   {"cluster-nodes", std::to_string(cluster.nodes)},
                   {"pods-waiting", std::to_string(shadow.waiting)},
                   {"cluster-pods-waiting", std::to_string(cluster.waiting)},
                   {"nodeclaims-made", std::to_string(both.replayed.claims)},
                   {"cluster-nodeclaims-made", std::to_string(both.recorded.claims)},
                   {"pods-evicted", std::to_string(both.replayed.evicted)},
                   {"cluster-pods-evicted", std::to_string(both.recorded.evicted)}});
}

void Shadow::set_metrics(const std::string& course, const DayFigures& figures) const {
  const base::MetricLabels labels{{"course", course}};
  const auto set = [&](const char* name, const char* help, double value) {
    parts_.metrics.set(name, help, labels, value);
  };
  const auto& now = figures.moments.back();
  set("millwright_shadow_cost", "What all machines have cost since the shadow began.",
      figures.cost);
  set("millwright_shadow_price_per_hour", "What all machines cost per hour.", now.price);
  set("millwright_shadow_nodes", "Nodes.", static_cast<double>(now.nodes));
  set("millwright_shadow_pods_waiting", "Pods without a node.", static_cast<double>(now.waiting));
  set("millwright_shadow_nodeclaims_made", "NodeClaims made since the shadow began.",
      static_cast<double>(figures.claims));
  set("millwright_shadow_pods_evicted", "Pods evicted since the shadow began.",
      static_cast<double>(figures.evicted));
}

}  // namespace millwright::app
