#include "millwright/telemetry/decision_log.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

namespace millwright::telemetry {
namespace {

constexpr auto kSayStandingAgain = std::chrono::hours(1);
constexpr std::uint64_t kDigestPrime = 1099511628211ULL;

}  // namespace

void Digest::add(std::string_view part) {
  for (const char c : part) {
    value_ = (value_ ^ static_cast<unsigned char>(c)) * kDigestPrime;
  }
  value_ = (value_ ^ 0xFFU) * kDigestPrime;  // "ab","c" is not "a","bc": no text has this byte
}

void Digest::add(std::uint64_t part) {
  for (int byte = 0; byte < 8; ++byte) {
    value_ = (value_ ^ ((part >> (8 * byte)) & 0xFFU)) * kDigestPrime;
  }
}

void Digest::add(double part) {
  add(std::bit_cast<std::uint64_t>(part));
}

std::string Digest::text() const {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value_));
  return text.data();
}

DecisionPtr DecisionLog::put(Decision decision) {
  decision.number = ++last_number_;
  decision.time = now_();
  auto kept = std::make_shared<const Decision>(std::move(decision));
  newest_.push_back(kept);
  if (newest_.size() > most_) {
    newest_.pop_front();
  }
  if (write_) {
    write_(decision_line(*kept));
  }
  return kept;
}

void DecisionLog::record(Decision decision) {
  const std::scoped_lock lock(mutex_);
  put(std::move(decision));
}

// A message that varies is kept in memory and not said again.
void DecisionLog::hold(Held& held, Decision decision, bool say) {
  if (say) {
    held.decision = put(std::move(decision));
    held.said = held.decision->time;
    return;
  }
  decision.number = held.decision->number;
  decision.time = held.decision->time;
  held.decision = std::make_shared<const Decision>(std::move(decision));
}

void DecisionLog::stand(DecisionKind kind, const std::vector<Standing>& all,
                        const std::function<Decision(std::size_t)>& make) {
  const std::scoped_lock lock(mutex_);
  const base::TimePoint now = now_();
  auto& standing = standing_[static_cast<std::size_t>(kind)];
  ++round_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& held = standing[std::string(all[i].subject)];
    held.round = round_;
    const bool say = held.decision == nullptr || held.decision->cause != all[i].cause ||
                     now - held.said >= kSayStandingAgain;
    if (say || held.decision->message != all[i].message) {
      hold(held, make(i), say);
    }
  }
  std::erase_if(standing, [this](const auto& item) { return item.second.round != round_; });
}

std::vector<DecisionPtr> DecisionLog::all() const {
  std::map<std::uint64_t, DecisionPtr> by_number;
  const std::scoped_lock lock(mutex_);
  for (const auto& decision : newest_) {
    by_number.emplace(decision->number, decision);
  }
  for (const auto& kind : standing_) {
    for (const auto& [subject, held] : kind) {
      by_number.insert_or_assign(held.decision->number, held.decision);
    }
  }
  std::vector<DecisionPtr> result;
  result.reserve(by_number.size());
  for (auto& [number, decision] : by_number) {
    result.push_back(std::move(decision));
  }
  return result;
}

}  // namespace millwright::telemetry
