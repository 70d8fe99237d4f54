#include "millwright/extender/extender.hpp"

#include "extender/policy/judge.hpp"
#include "extender/policy/policy_snapshot.hpp"
#include "extender/policy/preemption.hpp"
#include "extender/policy/score.hpp"
#include "extender/policy/sparing.hpp"
#include "extender/wire/json_fields.hpp"
#include "extender/wire/request.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace millwright::extender {
namespace {

// Seconds; the budget is 300 microseconds for 500 nodes and 2 milliseconds for 5,000.
const std::vector<double> kBuckets{0.00005, 0.0001, 0.0002, 0.0003, 0.0005, 0.001,
                                   0.002,   0.005,  0.01,   0.05,   0.1,    1};

// Beyond so many looks the last one is used, whatever happened meanwhile.
constexpr int kMostLooks = 16;

struct Verdict {
  const Candidate* candidate;
  std::string_view reason;
};

Reply malformed(const base::Error& error) {
  return {400, "malformed extender request: " + error.message + "\n"};
}

void append_items(std::string& body, const std::vector<const Candidate*>& passing) {
  body += '[';
  for (const Candidate* const candidate : passing) {
    if (candidate != passing.front()) {
      body += ',';
    }
    body += candidate->raw;
  }
  body += ']';
}

// ExtenderFilterResult.
std::string filter_result(const Request& request, const std::vector<const Candidate*>& passing,
                          const std::vector<Verdict>& refused) {
  std::size_t size = 256;
  for (const Candidate* const candidate : passing) {
    size += candidate->raw.size() + 1;
  }
  for (const Verdict& verdict : refused) {
    size += verdict.candidate->name.size() + verdict.reason.size() + 8;
  }
  std::string body;
  body.reserve(size);
  if (request.full_nodes) {
    body += R"({"Nodes":{"metadata":{},"items":)";
    append_items(body, passing);
    body += R"(},"NodeNames":null)";
  } else {
    body += R"({"Nodes":null,"NodeNames":)";
    append_items(body, passing);
  }
  body += R"(,"FailedNodes":{},"FailedAndUnresolvableNodes":{)";
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (i > 0) {
      body += ',';
    }
    append_quoted(body, refused[i].candidate->name);
    body += ':';
    append_quoted(body, refused[i].reason);
  }
  return body += R"(},"Error":""})";
}

}  // namespace

struct Extender::Impl {
  Impl(Sources the_sources, Policy the_policy)
      : sources(std::move(the_sources)), policy(the_policy), problems(sources.on_problem) {}

  Sources sources;
  Policy policy;
  mutable DaemonRoom daemons;
  mutable ProblemReport problems;
  mutable std::mutex newest_mutex;
  mutable std::shared_ptr<const PolicySnapshot> newest;

  // The newest snapshot. Two threads may both make it; either will do.
  std::shared_ptr<const PolicySnapshot> look() const {
    auto [snapshot, ledger] = sources.sight();
    std::shared_ptr<const PolicySnapshot> known;
    {
      const std::scoped_lock lock(newest_mutex);
      known = newest;
    }
    std::shared_ptr<const NodeIndex> nodes;
    if (known == nullptr) {
      nodes = std::make_shared<const NodeIndex>(std::move(snapshot));
    } else if (known->nodes->snapshot() != snapshot) {
      nodes = NodeIndex::follow(*known->nodes, std::move(snapshot));
    } else if (known->ledger != ledger) {
      nodes = known->nodes;
    } else {
      return known;
    }
    auto next = std::make_shared<const PolicySnapshot>(std::move(nodes), std::move(ledger));
    const std::scoped_lock lock(newest_mutex);
    newest = next;
    return next;
  }

  static const scheduling::NodeRecord* record_of(const IndexedNode* node) {
    return node == nullptr ? nullptr : node->record.get();
  }

  // The pods in flight and what they are judged with. Hold it for one answer only.
  struct Look {
    std::shared_ptr<const PolicySnapshot> seen;
    cluster::Traffic traffic;
  };
  // Both at one instant. A binding that the loop sees in between asks for another look; there are
  // far fewer of those than looks fit between two of them.
  Look look_with_traffic(base::TimePoint now) const {
    for (int look_number = 0;; ++look_number) {
      const std::uint64_t settled = sources.ledger->settled();
      auto seen = look();
      auto traffic = sources.ledger->traffic(now);
      if (traffic.settled() == settled || look_number == kMostLooks) {
        return {std::move(seen), std::move(traffic)};
      }
    }
  }

  static std::vector<std::uint64_t> hashes_of(const Request& request) {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(request.candidates.size());
    std::transform(
        request.candidates.begin(), request.candidates.end(), std::back_inserter(hashes),
        [](const Candidate& candidate) { return cluster::Ledger::node_hash(candidate.name); });
    return hashes;
  }

  struct Verdicts {
    std::vector<const Candidate*> passing;
    std::vector<std::uint64_t> passing_hashes;  // of nodes whose removal waits for the pod
    std::vector<Verdict> refused;
    bool synced = false;
    bool beyond_reserved = false;
    std::vector<std::string> not_offered;  // when no node passes
  };
  Verdicts judge_all(const PodFacts& pod, const Request& request, base::TimePoint now) const;
  static bool is_attempt(const PodFacts& pod, const Request& request, const PolicySnapshot& seen);
  void note_attempt(const PodFacts& pod, Verdicts& verdicts, base::TimePoint now) const;

  // Runs one verb: whatever goes wrong inside becomes a status, never a crash.
  template <class Verb>
  Reply measure(const char* verb, Verb run) const {
    const base::TimePoint start = sources.now();
    std::string_view outcome = "ok";
    Reply reply;
    try {
      base::Result<Reply> result = run(outcome);
      if (result) {
        reply = *std::move(result);
      } else {
        outcome = "malformed";
        reply = malformed(result.error());
      }
    } catch (const std::exception& error) {
      outcome = "failed";
      reply = {500, std::string("extender failed: ") + error.what() + "\n"};
    }
    if (sources.metrics != nullptr) {
      const std::chrono::duration<double> taken = sources.now() - start;
      sources.metrics->count("millwright_extender_requests_total",
                             "Calls of kube-scheduler by verb and outcome.",
                             {{"verb", verb}, {"outcome", std::string(outcome)}});
      sources.metrics->observe("millwright_extender_duration_seconds",
                               "Time to answer kube-scheduler by verb.", {{"verb", verb}},
                               taken.count(), kBuckets);
    }
    return reply;
  }

  void count_refusals(const std::vector<Verdict>& refused) const {
    if (sources.metrics == nullptr) {
      return;
    }
    for (const std::string_view reason : {kBeingRemoved, kReservedForOthers, kReservedElsewhere}) {
      const auto nodes = std::count_if(refused.begin(), refused.end(),
                                       [reason](const auto& one) { return one.reason == reason; });
      if (nodes > 0) {
        sources.metrics->count("millwright_extender_refused_nodes_total",
                               "Nodes that filter refused, by reason.",
                               {{"reason", std::string(reason.substr(reason.find(' ') + 1))}},
                               static_cast<double>(nodes));
      }
    }
  }

  std::shared_ptr<const PolicySnapshot> leave_out_refused(PreemptionRequest& request,
                                                          const PodFacts& pod,
                                                          base::TimePoint now) const;
  bool spares_victims(const PodFacts& pod, const scheduling::Snapshot& snapshot,
                      base::TimePoint now) const;

  base::Result<Reply> filter(std::string_view body, std::string_view& outcome) const;
  base::Result<Reply> prioritize(std::string_view body, std::string_view& outcome) const;
  base::Result<Reply> preempt(std::string_view body, std::string_view& outcome) const;
};

Extender::Impl::Verdicts Extender::Impl::judge_all(const PodFacts& pod, const Request& request,
                                                   base::TimePoint now) const {
  const Look moment = look_with_traffic(now);
  const PolicySnapshot& seen = *moment.seen;
  Verdicts verdicts{.synced = seen.snapshot().synced};
  verdicts.passing.reserve(request.candidates.size());
  verdicts.passing_hashes.reserve(request.candidates.size());
  const Scene scene{
      .seen = seen, .policy = policy, .now = now, .daemons = &daemons, .traffic = &moment.traffic};
  Judge judge(pod, scene);
  const auto hashes = hashes_of(request);
  if (judge.has_targets() && verdicts.synced) {
    judge.choose_among(hashes);
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const Candidate& candidate = request.candidates[i];
    std::optional<std::string_view> reason;
    bool is_closed = false;
    if (verdicts.synced && (judge.keeps_to_its_room() || seen.is_watched(hashes[i]))) {
      const auto* const record = record_of(seen.nodes->find_node(hashes[i], candidate.name));
      const AskedNode node{.name = candidate.name, .hash = hashes[i], .record = record};
      reason = judge.refusal(node);
      is_closed = pod.is_daemon && judge.is_closed(node);
    }
    if (reason) {
      verdicts.refused.push_back({&candidate, *reason});
      continue;
    }
    verdicts.passing.push_back(&candidate);
    // A DaemonSet's pod may go to a closed node. It goes with the node, so nobody waits for it.
    if (!is_closed) {
      verdicts.passing_hashes.push_back(hashes[i]);
    }
  }
  verdicts.beyond_reserved = judge.is_beyond_reserved();
  if (verdicts.passing.empty()) {
    verdicts.not_offered = judge.ready_targets_not_offered();
  }
  return verdicts;
}

// kube-scheduler asks when at least one node passed its own filters, and such a node is found after
// a few names.
bool Extender::Impl::is_attempt(const PodFacts& pod, const Request& request,
                                const PolicySnapshot& seen) {
  if (pod.shown == Shown::Otherwise) {
    return false;
  }
  const auto& asked = request.candidates;
  return !seen.snapshot().synced ||
         std::any_of(asked.begin(), asked.end(), [&seen](const Candidate& candidate) {
           const auto hash = cluster::Ledger::node_hash(candidate.name);
           return seen.nodes->find_node(hash, candidate.name) != nullptr ||
                  seen.ledger->fences_by_node.contains(candidate.name);
         });
}

void Extender::Impl::note_attempt(const PodFacts& pod, Verdicts& verdicts,
                                  base::TimePoint now) const {
  const auto lifetime =
      pod.awaits_volumes ? cluster::Ledger::kVolumeBindTimeout : cluster::Ledger::kPassLifetime;
  cluster::Pass pass{.pod_uid = pod.uid,
                     .group = pod.group,
                     .at = now,
                     .until = now + lifetime,
                     .requests = pod.requests,
                     .beyond_reserved = verdicts.beyond_reserved,
                     .node_hashes = std::move(verdicts.passing_hashes),
                     .pod_version = pod.version};
  if (pod.shown != Shown::Waiting) {
    pass.unseen = cluster::Pass::Unseen{.pod = pod.key, .until = pass.until};
    pass.until = now + cluster::Ledger::kPassLifetime;
  }
  sources.ledger->attempted(std::move(pass));
}

base::Result<Reply> Extender::Impl::filter(std::string_view body, std::string_view& outcome) const {
  MW_TRY(request, read_request(body));
  const auto seen = look();
  MW_TRY(pod, read_pod(request.pod, seen->snapshot()));
  const base::TimePoint now = sources.now();
  const bool noted = is_attempt(pod, request, *seen);
  // Before the ledger is looked at: a fence made from here on sees the attempt, and one made
  // before is seen by it.
  if (noted) {
    sources.ledger->attempt(pod.uid, now, pod.shown == Shown::Waiting);
  }
  Verdicts verdicts = judge_all(pod, request, now);
  if (noted) {
    note_attempt(pod, verdicts, now);
  }
  outcome = verdicts.synced ? outcome : "unsynced";
  if (!verdicts.refused.empty()) {
    count_refusals(verdicts.refused);
    if (noted && verdicts.passing.empty() && sources.on_refused) {
      sources.on_refused({.pod = pod, .not_offered = std::move(verdicts.not_offered)});
    }
  }
  return Reply{200, filter_result(request, verdicts.passing, verdicts.refused)};
}

base::Result<Reply> Extender::Impl::prioritize(std::string_view body,
                                               std::string_view& outcome) const {
  MW_TRY(request, read_request(body));
  const auto seen = look();
  const scheduling::Snapshot& snapshot = seen->snapshot();
  MW_TRY(pod, read_pod(request.pod, snapshot));
  outcome = snapshot.synced ? outcome : "unsynced";
  const Scene scene{.seen = *seen, .policy = policy, .now = sources.now()};
  const Judge judge(pod, scene);
  const model::ResourceList nothing;
  model::ResourceList scratch;
  const auto score_of = [&](const Candidate& candidate) {
    const std::uint64_t hash = cluster::Ledger::node_hash(candidate.name);
    const IndexedNode* const node = seen->nodes->find_node(hash, candidate.name);
    if (node == nullptr || !snapshot.synced) {
      return 0;
    }
    if (!seen->is_watched(hash)) {
      return packing_score(*node, pod, nothing, scene.now);
    }
    const AskedNode asked{.name = candidate.name, .hash = hash, .record = node->record.get()};
    if (judge.is_own_target(asked)) {
      return kMaxScore;
    }
    if (seen->ledger->fences_by_node.contains(candidate.name)) {
      return 0;
    }
    const auto& others = judge.reserved_for_others(asked, scratch);
    return packing_score(*node, pod, others, scene.now);
  };
  std::string reply = "[";
  for (const Candidate& candidate : request.candidates) {
    // kube-scheduler takes a node that is not named for one that scores 0, and reading names costs
    // it more than anything else here does.
    if (const int score = score_of(candidate); score > 0) {
      reply += reply.size() > 1 ? R"(,{"Host":)" : R"({"Host":)";
      append_quoted(reply, candidate.name);
      reply += R"(,"Score":)";
      reply += std::to_string(score);
      reply += '}';
    }
  }
  return Reply{200, reply += ']'};
}

bool Extender::Impl::spares_victims(const PodFacts& pod, const scheduling::Snapshot& snapshot,
                                    base::TimePoint now) const {
  const auto until = spares_until(pod);
  if (!until) {
    problems.tell(until.error().message);
    return false;
  }
  const auto& time = *until;
  return time && now < *time && sources.can_be_bought && any_pool_may_grow(pod, snapshot) &&
         sources.can_be_bought(pod);
}

// What it was decided from.
std::shared_ptr<const PolicySnapshot> Extender::Impl::leave_out_refused(PreemptionRequest& request,
                                                                        const PodFacts& pod,
                                                                        base::TimePoint now) const {
  const Look moment = look_with_traffic(now);
  const PolicySnapshot& seen = *moment.seen;
  if (!seen.snapshot().synced) {
    return moment.seen;
  }
  const Scene scene{
      .seen = seen, .policy = policy, .now = now, .daemons = &daemons, .traffic = &moment.traffic};
  Judge judge(pod, scene);
  std::erase_if(request.nodes, [&](const PreemptionNode& node) {
    const std::uint64_t hash = cluster::Ledger::node_hash(node.name);
    const auto* const record = record_of(seen.nodes->find_node(hash, node.name));
    return judge
        .refusal({.name = node.name, .hash = hash, .record = record}, freed_by(node, record))
        .has_value();
  });
  return moment.seen;
}

base::Result<Reply> Extender::Impl::preempt(std::string_view body,
                                            std::string_view& outcome) const {
  RequestMemory memory;
  MW_TRY(json, parse_request(body, memory));
  MW_TRY(request, read_preemption(json));
  MW_TRY(pod, read_pod(*request.pod, *sources.sight().snapshot));
  const base::TimePoint now = sources.now();
  const auto seen = leave_out_refused(request, pod, now);
  const scheduling::Snapshot& snapshot = seen->snapshot();
  if (!snapshot.synced) {
    outcome = "unsynced";
  } else if (!request.nodes.empty() && spares_victims(pod, snapshot, now)) {
    // kube-scheduler evicts nobody when no node is named.
    request.nodes.clear();
    outcome = "spared";
    if (sources.on_spared && pod.shown != Shown::Otherwise) {
      sources.on_spared(pod);
    }
  }
  return Reply{200, preemption_result(request.nodes)};
}

Extender::Extender(Sources sources, Policy policy)
    : impl_(std::make_unique<Impl>(std::move(sources), policy)) {}
Extender::~Extender() = default;

Reply Extender::filter(std::string_view body) const {
  return impl_->measure("filter",
                        [&](std::string_view& outcome) { return impl_->filter(body, outcome); });
}

Reply Extender::prioritize(std::string_view body) const {
  return impl_->measure(
      "prioritize", [&](std::string_view& outcome) { return impl_->prioritize(body, outcome); });
}

Reply Extender::preempt(std::string_view body) const {
  return impl_->measure("preempt",
                        [&](std::string_view& outcome) { return impl_->preempt(body, outcome); });
}

}  // namespace millwright::extender
