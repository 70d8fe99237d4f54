#include "scheduling/live_plan.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// Ids for the rungs of pods that arrive; those of narrowings come after them.
constexpr std::uint32_t kSpareRungs = 1U << 16;
constexpr std::size_t kMinWear = 4096;

}  // namespace

LivePlan::LivePlan(Problem problem, PlanMemory::Compiled memory)
    : problem_(std::move(problem)),
      compiled_(problem_, std::move(memory)),
      packing_(pack(compiled_)),
      writer_(problem_, compiled_.pods, compiled_.pools, packing_->drafts().shapes()) {
  take_stock();
}

std::unique_ptr<Packing> LivePlan::pack(CompiledProblem& compiled) {
  compiled.pods.rung_count += kSpareRungs;
  auto packing = best_packing(compiled);
  packing->reopen();
  return packing;
}

void LivePlan::take_stock() {
  const PodClasses& pods = compiled_.pods;
  next_rung_ = pods.rung_count - kSpareRungs;
  gone_.assign(pods.pods.size(), false);
  pods_by_uid_.reserve(pods.pods.size());
  for (std::uint32_t i = 0; i < pods.pods.size(); ++i) {
    const PlannedPod& pod = pods.pods[i];
    pods_by_uid_.emplace(pod.pod->meta.uid, i);
    if (!has_claims(pod.pod->spec)) {
      note_example(*pod.pod, pod.pod_class);
    }
    if (packing_->outcomes()[i].kind == Outcome::Kind::Refused) {
      refused_classes_.insert(pod.pod_class);
    }
  }
  for (std::uint32_t i = 0; i < compiled_.nodes.nodes().size(); ++i) {
    nodes_by_name_.emplace(compiled_.nodes.nodes()[i].record->name(), i);
  }
  for (const Hold& hold : problem_.holds) {
    held_.insert(hold.pod_uid);
    holds_by_target_.emplace(hold.target, &hold);
  }
  Revision nothing;
  for (std::uint32_t i = 0; i < packing_->drafts().claims().size(); ++i) {
    show(i, nothing);
  }
  for (const auto name : {model::kCpu, model::kMemory, model::kPods}) {
    double total = 0;
    const auto column = pods.columns.find(name);
    for (const ClaimDraft& claim : packing_->drafts().claims()) {
      total += column ? static_cast<double>(claim.requests[*column]) : 0;
    }
    if (total > 0) {
      worth_.push_back({*column, price_ / total});
    }
  }
}

// What they should cost at the average price.
double LivePlan::price_of(const Amounts& amounts) const {
  double result = 0;
  for (const Worth& worth : worth_) {
    result += worth.per_unit * static_cast<double>(amounts[worth.column]);
  }
  return worth_.empty() ? 0 : result / static_cast<double>(worth_.size());
}

// What might be saved without them: whatever they take most of may have been what was short.
double LivePlan::most_saved_by(const Amounts& amounts) const {
  double most = 0;
  for (const Worth& worth : worth_) {
    most = std::max(most, worth.per_unit * static_cast<double>(amounts[worth.column]));
  }
  return most;
}

// Pods on claims could have gone there, as far as there is room for all that they ask.
double LivePlan::most_saved_in(const Amounts& gained) const {
  double least = price_;
  for (const Worth& worth : worth_) {
    const auto amount = std::max<std::int64_t>(gained[worth.column], 0);
    least = std::min(least, worth.per_unit * static_cast<double>(amount));
  }
  return worth_.empty() ? 0 : least;
}

bool LivePlan::show(std::uint32_t index, Revision& revision) {
  const ClaimDraft& draft = packing_->drafts().claims()[index];
  if (shown_.size() <= index) {
    shown_.resize(index + 1);
  }
  Shown& shown = shown_[index];
  shown.shape = draft.shape;
  shown.rows = draft.rows;
  shown.pods = draft.pods;
  if (draft.pods.empty()) {
    shown.written.claim.emplace().node_pool = compiled_.pools[draft.pool].name();
  } else {
    shown.written = write_claim(writer_, draft);
  }
  const double price = shown.written.claim ? shown.written.claim->price : 0;
  price_ += price - shown.price;
  shown.price = price;
  if (shown.written.claim) {
    if (!shown.number) {
      shown.number = next_number_++;
    }
    revision.claims.emplace_back(*shown.number, *shown.written.claim);
  }
  return shown.written.claim.has_value();
}

void LivePlan::report(std::uint32_t pod, Revision& revision) const {
  const Outcome outcome = packing_->outcomes()[pod];
  const std::string& uid = compiled_.pods.pods[pod].pod->meta.uid;
  const std::uint32_t step = packing_->steps()[pod];
  if (outcome.kind == Outcome::Kind::Node) {
    const auto& node = compiled_.nodes.nodes()[outcome.index];
    revision.placements.push_back({uid, node.record->name(), step});
  } else if (outcome.kind == Outcome::Kind::Claim) {
    revision.placements.push_back({uid, *shown_[outcome.index].number, step});
  }
}

std::optional<Revision> LivePlan::revise() {
  Revision revision;
  const double before = price_;
  const auto& drafts = packing_->drafts().claims();
  for (std::uint32_t i = 0; i < drafts.size(); ++i) {
    const bool same = i < shown_.size() && shown_[i].shape == drafts[i].shape &&
                      shown_[i].rows == drafts[i].rows && shown_[i].pods == drafts[i].pods;
    if (!same && !show(i, revision)) {
      return std::nullopt;
    }
  }
  for (auto* pods : {&moved_, &restepped_}) {
    std::sort(pods->begin(), pods->end());
    pods->erase(std::unique(pods->begin(), pods->end()), pods->end());
    for (const std::uint32_t pod : *pods) {
      report(pod, revision);
    }
  }
  Refusals refusals(compiled_, *packing_);
  for (const std::uint32_t pod : refused_) {
    if (!gone_[pod] && packing_->outcomes()[pod].kind == Outcome::Kind::Refused) {
      revision.refusals.push_back(refusals.of(pod));
    }
  }
  for (const std::uint32_t pod : moved_) {
    const Outcome outcome = packing_->outcomes()[pod];
    if (outcome.kind == Outcome::Kind::Claim) {
      expected_ += price_of(compiled_.pods.classes[compiled_.pods.pods[pod].pod_class].requests);
    }
  }
  strayed_ += std::max(0.0, price_ - before - expected_);
  note_gained_room();
  moved_.clear();
  restepped_.clear();
  refused_.clear();
  expected_ = 0;
  return revision;
}

void LivePlan::note_gained_room() {
  for (auto& [node, before] : room_before_) {
    Amounts gained = packing_->room(node);
    subtract_from(gained, before);
    strayed_ += most_saved_in(gained);
  }
  room_before_.clear();
}

Plan LivePlan::plan() {
  std::vector<WrittenClaim> claims;
  claims.reserve(shown_.size());
  for (const Shown& shown : shown_) {
    claims.push_back(shown.written);
  }
  return write_plan(compiled_, *packing_, std::move(claims), gone_);
}

bool LivePlan::worn_out() const {
  const auto most_are = [](std::size_t old, std::size_t all) {
    return old > kMinWear && old > all / 2;
  };
  // Each node is kept as it was at every change.
  return most_are(gone_count_, gone_.size()) ||
         most_are(kept_nodes_.size(), kept_nodes_.size() + nodes_by_name_.size());
}

}  // namespace millwright::scheduling
