// What was decided and why: plans, purchases, refusals, removals, and what keeps each node. `why`
// (docs/asking.md) answers from it. The newest decisions are kept in memory; with a writer each is
// a line of JSON too. What stands (a refusal, the reason why a node stays) is recorded when it
// begins or changes, and again each hour, however often it is decided anew. Thread-safe.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::telemetry {

enum class DecisionKind : std::uint8_t {
  Plan,       // where pods go: onto which nodes, and how many new ones
  Purchase,   // a NodeClaim was created
  Refusal,    // no plan has a place for a pod
  Removal,    // nodes go
  TakenBack,  // nodes were to go, and stay
  Kept,       // a node stays
};
inline constexpr std::size_t kDecisionKinds = 6;
// As in the lines: "purchase", "taken-back".
std::string_view to_string(DecisionKind kind);
std::optional<DecisionKind> parse_decision_kind(std::string_view text);

// An object that a decision is about: "NodeClaim", "Node", "Pod", "NodePool".
struct DecisionSubject {
  std::string kind;
  std::string namespace_;  // empty for cluster-scoped kinds
  std::string name;
  friend bool operator==(const DecisionSubject&, const DecisionSubject&) = default;
};

// What could have been decided instead.
struct Alternative {
  std::string what;             // "c7.xlarge", "keep the nodes"
  std::string why_not;          // "dearer"
  std::optional<double> price;  // per hour, where it is known
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

// Prices are per hour, in the currency of the cloud's prices.
struct Decision {
  std::uint64_t number = 0;  // by the log: from 1, in the order they were recorded
  base::TimePoint time{};    // by the log
  DecisionKind kind = DecisionKind::Plan;
  // In the log's lines about the same: their reconcileID, of removals their command-id.
  std::string trace{};
  std::string inputs{};  // digest of pods, nodes, NodePools and prices it was made from
  std::vector<DecisionSubject> about{};
  std::string node_pool{};        // empty when several are concerned
  std::string cause{};            // for programs: "NotCheaper", "Empty", "provisioned"
  std::string message{};          // a sentence for people
  std::string remedy{};           // the smallest change that would alter it; may be empty
  std::optional<double> price{};  // of what was bought, of what goes, or of the node that stays
  std::optional<double> saved{};  // by a removal
  std::vector<Alternative> alternatives{};
  std::vector<std::string> pods{};               // namespace/name
  std::map<std::string, std::string> targets{};  // by pod, for those with a place that exists
  // When it is looked at again though nothing happens.
  std::optional<base::TimePoint> look_again{};
  friend bool operator==(const Decision&, const Decision&) = default;
};
using DecisionPtr = std::shared_ptr<const Decision>;

// One line without its end, in the layout of the program's log, so that it can be among its lines:
//   {"level":"INFO","time":"...","logger":"decisions","message":"...","decision":"purchase",...}
std::string decision_line(const Decision& decision);
// nullopt for a line that is none: other lines of a log, or broken ones.
std::optional<Decision> parse_decision_line(std::string_view line);

// A digest of a decision's inputs, FNV-1a over the parts in the order given; 16 hexadecimal digits.
class Digest {
 public:
  void add(std::string_view part);
  void add(std::uint64_t part);
  void add(double part);
  std::string text() const;

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

class DecisionLog {
 public:
  using Write = std::function<void(std::string_view line)>;
  static constexpr std::size_t kMost = 4096;

  // Keeps the `most` newest. `write` gets each line, on the thread that records; it may be empty.
  explicit DecisionLog(std::function<base::TimePoint()> now, Write write = {},
                       std::size_t most = kMost)
      : now_(std::move(now)), write_(std::move(write)), most_(most) {}

  void record(Decision decision);

  // What stands of one kind, all of it: what is not named has ended. `make` is called for those
  // that are new, changed or due again, with their index; it must not call the log.
  struct Standing {
    std::string_view subject;  // the name of the pod or claim; one entry for each
    std::string_view cause;
    std::string_view message;  // may vary while the cause is the same
  };
  void stand(DecisionKind kind, const std::vector<Standing>& all,
             const std::function<Decision(std::size_t)>& make);

  // The newest and what stands, each once, by number.
  std::vector<DecisionPtr> all() const;

 private:
  struct Held {
    DecisionPtr decision;
    base::TimePoint said;
    std::uint64_t round = 0;
  };
  using HeldBySubject = std::unordered_map<std::string, Held>;

  DecisionPtr put(Decision decision);  // with mutex_ held
  void hold(Held& held, Decision decision, bool say);

  const std::function<base::TimePoint()> now_;
  const Write write_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  std::uint64_t round_ = 0;
  std::deque<DecisionPtr> newest_;
  std::array<HeldBySubject, kDecisionKinds> standing_;
};

}  // namespace millwright::telemetry
