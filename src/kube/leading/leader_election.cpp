// client-go's leaderelection package over a coordination.k8s.io/v1 Lease. Only durations measured
// on our own clock decide whether a lease has run out; the times written in it are for people.
#include "millwright/kube/leader_election.hpp"

#include "kube/calls/json.hpp"
#include "kube/calls/pacing.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/base/random.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;

// client-go's JitterFactor: candidates that failed wait up to 2.2 retry periods.
constexpr double kJitter = 1.2;
// Shares of a retry period after which a candidate looks at somebody's lease again: it must not see
// a renewal later than one period after it, since it counts the lease's duration from there.
constexpr double kLeastLook = 0.4;
constexpr double kMostLook = 0.8;
constexpr std::chrono::seconds kReleaseDeadline{5};

// FNV-1a: candidates with different names wait differently, each the same in every run.
std::uint64_t seed_of(std::string_view identity) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : identity) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

class Elector {
 public:
  Elector(Client& client, LeaderElectionOptions options, base::Leadership& leadership,
          const LeaderDuties& duties, base::Logger log)
      : client_(client),
        loop_(client.loop()),
        leadership_(leadership),
        options_(std::move(options)),
        duties_(duties),
        log_(std::move(log)),
        random_(seed_of(options_.identity)) {}

  // The lease is ours and a term has begun; false when stopped first.
  base::Task<bool> acquire(std::stop_token stop) {
    while (!stop.stop_requested()) {
      const auto begun = loop_.now();
      Deadline deadline(loop_, stop, options_.renew_deadline);
      const auto held = co_await try_hold(deadline.token());
      if (held && *held) {
        last_renewal_ = begun;
        leadership_.begin(term_end());
        co_return true;
      }
      if (!held && !stop.stop_requested()) {
        log_.warn("cannot take part in the leader election", {{"error", held.error().message}});
      }
      const auto delay = held ? until_next_look() : periods(1 + random_.unit() * kJitter);
      co_await base::sleep(loop_, delay, stop);
    }
    co_return false;
  }

  // Renews until that failed for renew_deadline or somebody else holds the lease: false. True when
  // stopped first.
  base::Task<bool> hold(std::stop_token stop) {
    while (true) {
      const auto lost_at = term_end();
      const auto pause = std::min<base::Duration>(options_.retry_period, lost_at - loop_.now());
      const bool waited = co_await base::sleep(loop_, pause, stop);
      if (!waited) {
        co_return true;
      }
      const auto begun = loop_.now();
      if (begun >= lost_at) {
        log_.error("lost leadership: the lease could not be renewed in time", {});
        co_return false;
      }
      Deadline deadline(loop_, stop, lost_at - begun);
      const auto held = co_await try_hold(deadline.token());
      if (held && !*held) {
        log_.error("lost leadership: another replica holds the lease", {{"leader", holder()}});
        co_return false;
      }
      if (held) {
        last_renewal_ = begun;
        if (!leadership_.extend(term_end())) {
          log_.error("lost leadership: the lease was renewed too late", {});
          co_return false;
        }
      } else if (!stop.stop_requested()) {
        log_.warn("cannot renew the lease", {{"error", held.error().message}});
      }
    }
  }

  // Clears the holder, so that others need not wait for the lease to run out. Not after etcd was
  // restored: only the lease as the backup has it shows that to a replica that has not looked yet,
  // which would lead by what it knows of the lost history.
  base::Task<void> release() {
    if (!wrote_ || is_rewound()) {
      co_return;
    }
    Deadline deadline(loop_, {}, kReleaseDeadline);
    auto current = co_await client_.get(model::kLeaseResource, key(), deadline.token());
    if (!current || !observe(*std::move(current)) || holder() != options_.identity) {
      co_return;
    }
    auto lease = lease_;
    auto& spec = spec_of(lease);
    const auto now = base::format_rfc3339_micro(loop_.now());
    spec["holderIdentity"] = "";
    spec["leaseDurationSeconds"] = 1;
    spec["acquireTime"] = now;
    spec["renewTime"] = now;
    auto released =
        co_await client_.replace(model::kLeaseResource, std::move(lease), {}, deadline.token());
    if (!released) {
      log_.warn("cannot give up the lease; it will run out", {{"error", released.error().message}});
    }
  }

 private:
  model::ObjectKey key() const {
    return {.namespace_ = options_.namespace_, .name = options_.name};
  }
  // Counted from when the renewal was sent: others cannot have seen it, and begun to count, before.
  base::TimePoint term_end() const { return last_renewal_ + options_.renew_deadline; }
  base::Duration periods(double count) const {
    return std::chrono::duration_cast<base::Duration>(
        std::chrono::duration<double>(options_.retry_period) * count);
  }
  // No later than the moment the lease runs out unless it is renewed.
  base::Duration until_next_look() {
    const auto look = periods(kLeastLook + random_.unit() * (kMostLook - kLeastLook));
    const auto left = runs_out_at() - loop_.now();
    return left > base::Duration::zero() ? std::min<base::Duration>(look, left) : look;
  }

  std::string holder() const { return std::string(text_at(lease_, "spec.holderIdentity")); }

  static json::object& spec_of(json::value& lease) {
    auto& spec = lease.get_object()["spec"];
    return spec.is_object() ? spec.get_object() : spec.emplace_object();
  }

  bool is_rewound() const { return rewound_ || duties_.is_rewound(); }

  // True when the lease is ours now, false when it is somebody else's.
  base::Task<base::Result<bool>> try_hold(std::stop_token stop) {
    if (is_rewound()) {
      co_return base::fail(ErrorKind::Unavailable,
                           "etcd was restored from a backup: this replica must be started anew");
    }
    if (holder() == options_.identity) {
      // The usual renewal needs no read; a refusal says that what we know is old.
      auto written = co_await write(lease_, stop);
      if (written || !is_outdated(written.error().kind)) {
        co_return written;
      }
    }
    auto current = co_await client_.get(model::kLeaseResource, key(), stop);
    if (!current && current.error().kind == ErrorKind::NotFound) {
      co_return co_await replace_deleted(stop);
    }
    MW_CO_CHECK(current);
    if (!current->is_object()) {
      co_return base::fail(ErrorKind::Unavailable,
                           "get Lease " + key().to_string() + ": the answer is not an object");
    }
    MW_CO_CHECK(observe(*std::move(current)));
    if (!is_free()) {
      co_return false;
    }
    auto written = co_await write(lease_, stop);
    if (!written && written.error().kind == ErrorKind::Conflict) {
      co_return false;  // another candidate was faster
    }
    co_return written;
  }

  // API servers answer either to a replacement of an object that is gone.
  static bool is_outdated(ErrorKind kind) {
    return kind == ErrorKind::Conflict || kind == ErrorKind::NotFound;
  }

  // Its holder hears of the deletion at its next renewal, or not at all if it is cut off. Until
  // then it leads on. It may have renewed until just before the deletion, whenever we looked last.
  base::Task<base::Result<bool>> replace_deleted(std::stop_token stop) {
    if (!std::exchange(missing_, true)) {
      observed_at_ = loop_.now();
    }
    if (may_be_led() && loop_.now() < runs_out_at()) {
      co_return false;
    }
    co_return co_await create(stop);
  }

  // By another one, or by one that took over when our own lease had run out.
  bool may_be_led() const {
    const auto who = holder();
    const bool ours = who == options_.identity;
    return !who.empty() && !(ours && loop_.now() < last_renewal_ + options_.lease_duration);
  }

  bool is_free() const {
    const auto who = holder();
    if (who.empty() || who == options_.identity) {
      return true;
    }
    return loop_.now() >= runs_out_at();
  }

  // By our own clock, from when we saw it change or go.
  base::TimePoint runs_out_at() const {
    const auto seconds = integer_at(lease_, "spec.leaseDurationSeconds").value_or(0);
    const auto duration =
        seconds > 0 && seconds < 86'400 ? std::chrono::seconds(seconds) : options_.lease_duration;
    return observed_at_ + duration;
  }

  base::Task<base::Result<bool>> write(json::value lease, std::stop_token stop) {
    auto& spec = spec_of(lease);
    const auto now = base::format_rfc3339_micro(loop_.now());
    if (text_at(lease, "spec.holderIdentity") != options_.identity) {
      const auto transitions = integer_at(lease, "spec.leaseTransitions").value_or(0);
      spec["holderIdentity"] = options_.identity;
      spec["acquireTime"] = now;
      spec["leaseTransitions"] = transitions + 1;
    }
    spec["leaseDurationSeconds"] = options_.lease_duration.count();
    spec["renewTime"] = now;
    wrote_ = true;
    auto written = co_await client_.replace(model::kLeaseResource, std::move(lease), {}, stop);
    MW_CO_CHECK(written);
    MW_CO_CHECK(observe(*std::move(written)));
    co_return true;
  }

  base::Task<base::Result<bool>> create(std::stop_token stop) {
    const auto now = base::format_rfc3339_micro(loop_.now());
    json::value lease{{"metadata", {{"name", options_.name}, {"namespace", options_.namespace_}}},
                      {"spec",
                       {{"holderIdentity", options_.identity},
                        {"leaseDurationSeconds", options_.lease_duration.count()},
                        {"acquireTime", now},
                        {"renewTime", now},
                        {"leaseTransitions", 0}}}};
    wrote_ = true;
    auto created = co_await client_.create(model::kLeaseResource, std::move(lease), stop);
    if (!created && created.error().kind == ErrorKind::Exists) {
      co_return false;
    }
    MW_CO_CHECK(created);
    MW_CO_CHECK(observe(*std::move(created)));
    co_return true;
  }

  // The clock of a lease starts when we see it change. Fails when it is older than what we know.
  base::Result<> observe(json::value lease) {
    if (model::is_lower_version(text_at(lease, "metadata.resourceVersion"),
                                text_at(lease_, "metadata.resourceVersion"))) {
      rewound_ = true;
      duties_.on_rewound();
      return base::fail(
          ErrorKind::Unavailable,
          "Lease " + key().to_string() + " is older than it was: etcd was restored from a backup");
    }
    const auto* seen = model::find_path(lease_, "spec");
    const auto* now_seen = model::find_path(lease, "spec");
    const bool same = seen != nullptr && now_seen != nullptr && *seen == *now_seen;
    const auto previous = holder();
    const bool came_back = std::exchange(missing_, false);
    if (!same || came_back) {
      observed_at_ = loop_.now();
    }
    lease_ = std::move(lease);
    if (const auto current = holder(); current != previous && !current.empty()) {
      log_.info("the leader is", {{"leader", current}});
    }
    return {};
  }

  Client& client_;
  base::Loop& loop_;
  base::Leadership& leadership_;
  LeaderElectionOptions options_;
  const LeaderDuties& duties_;
  base::Logger log_;
  base::Random random_;
  json::value lease_;  // as seen last; null before
  base::TimePoint observed_at_;
  base::TimePoint last_renewal_;
  bool missing_ = false;  // deleted, when we looked last
  bool wrote_ = false;
  bool rewound_ = false;
};

}  // namespace

base::Result<> check(const LeaderElectionOptions& options) {
  const auto invalid = [](std::string problem) {
    return base::fail(ErrorKind::Invalid, "leader election: " + std::move(problem));
  };
  if (options.identity.empty()) {
    return invalid("the identity of this replica is empty; set it to a unique name");
  }
  if (options.retry_period <= std::chrono::seconds::zero()) {
    return invalid("the retry period must be longer than 0s");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return invalid("the lease duration must be longer than the renew deadline");
  }
  if (std::chrono::duration<double>(options.renew_deadline) <=
      std::chrono::duration<double>(options.retry_period) * kJitter) {
    return invalid("the renew deadline must be longer than 1.2 retry periods");
  }
  return {};
}

base::Task<void> run_leader_election(Client& client, LeaderElectionOptions options,
                                     base::Leadership& leadership, LeaderDuties duties,
                                     base::Logger log, std::stop_token stop) {
  if (const auto valid = check(options); !valid) {
    log.error("this replica will never lead", {{"error", valid.error().message}});
    co_return;
  }
  const auto end_limit = options.end_limit;
  const auto settle = options.lease_duration - options.renew_deadline;
  Elector elector(client, std::move(options), leadership, duties, log);
  std::list<base::TaskGroup> terms;  // one, whose work ends before the next begins
  while (true) {
    const bool leading = co_await elector.acquire(stop);
    if (!leading) {
      break;
    }
    log.info("this replica leads", {{"term", std::to_string(leadership.term())}});
    base::TaskGroup& work = terms.emplace_back(client.loop());
    work.spawn(duties.lead(work.stop_token()));
    const bool ours = co_await elector.hold(stop);
    if (!ours) {
      leadership.end();
    }
    if (base::planted(base::Mutant::TermsOverlap)) {
      continue;
    }
    work.request_stop();
    duties.on_end();
    const bool ended = co_await work.join_within(end_limit);
    leadership.end();
    if (!ended) {
      log.error("the work of a term did not end after the term; ending the process",
                {{"term", std::to_string(leadership.term())},
                 {"limit", base::format_go_duration(end_limit)}});
      duties.on_stuck();
      co_return;
    }
    terms.pop_back();
    if (!ours) {
      // What was sent before the end arrives first. Other replicas wait for as long, and longer.
      co_await base::sleep(client.loop(), settle, stop);
    }
  }
  co_await elector.release();
}

}  // namespace millwright::kube
