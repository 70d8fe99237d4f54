#include "millwright/controllers/process/sources.hpp"

#include "millwright/base/mutant.hpp"

#include <algorithm>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kLookAtSources = std::chrono::seconds(5);

}  // namespace

std::size_t Sources::add(std::string name) {
  sources_.push_back({.name = std::move(name)});
  return sources_.size() - 1;
}

void Sources::listed(std::size_t source) {
  sources_[source].awaited = false;
  heard(source);
  tell_synced();
}

void Sources::done_without(std::size_t source) {
  sources_[source].awaited = false;
  if (std::exchange(sources_[source].matters, false) && sources_[source].lost) {
    fewer_lost_.notify();
  }
  tell_synced();
}

std::optional<base::TimePoint> Sources::refused(std::size_t source) {
  Source& one = sources_[source];
  const base::TimePoint now = loop_.now();
  if (!one.refused_since) {
    one.refused_since = now;
  }
  const bool lasts = one.awaited || now - *one.refused_since >= kRefusedFor;
  return one.matters && lasts ? one.refused_since : std::nullopt;
}

void Sources::refused_alone(std::size_t source, base::TimePoint since) {
  if (sources_[source].refused_since == since) {
    done_without(source);
  }
}

void Sources::heard(std::size_t source) {
  sources_[source].heard = loop_.now();
  sources_[source].refused_since.reset();
  sources_[source].matters = true;
  if (std::exchange(sources_[source].lost, false)) {
    fewer_lost_.notify();
  }
}

void Sources::lost(std::size_t source) {
  sources_[source].lost = true;
}

void Sources::tell_synced() {
  const bool all =
      base::planted(base::Mutant::LeadsBeforeLists) ||
      std::none_of(sources_.begin(), sources_.end(), [](const auto& each) { return each.awaited; });
  if (all && !std::exchange(synced_, true)) {
    state_.set_synced(true);
  }
}

const Sources::Source* Sources::stale_one() const {
  const auto found = std::find_if(sources_.begin(), sources_.end(), [this](const Source& source) {
    const base::Duration silent = loop_.now() - source.heard;
    return source.matters &&
           silent >= (source.lost ? base::Duration(kLostFor) : base::Duration(kSilentFor));
  });
  return found == sources_.end() ? nullptr : &*found;
}

bool Sources::is_any_lost() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.matters && source.lost; });
}

base::Task<void> Sources::wait_for_all(std::stop_token stop) {
  const base::TimePoint until = loop_.now() + kLostFor;
  while (is_any_lost() && loop_.now() < until && !stop.stop_requested()) {
    co_await fewer_lost_.wait(stop, until - loop_.now());
  }
  look();  // who begins now must not decide by what is stale until the next look
}

void Sources::look() {
  if (!synced_) {
    return;
  }
  const Source* const stale = stale_one();
  const bool fresh = stale == nullptr;
  if (std::exchange(fresh_, fresh) == fresh) {
    return;
  }
  if (fresh) {
    log_.info("the cluster is heard of again");
  } else {
    log_.error("the cluster state is stale: nothing is decided or refused until it is heard of",
               {{"resource", stale->name}, {"last-heard", base::format_rfc3339(stale->heard)}});
  }
  state_.set_fresh(fresh);
  state_.snapshot();  // what other threads answer from
}

base::Task<void> Sources::watch_over(std::stop_token stop) {
  while (!stop.stop_requested()) {
    look();
    co_await base::sleep(loop_, kLookAtSources, stop);
  }
}

}  // namespace millwright::controllers
