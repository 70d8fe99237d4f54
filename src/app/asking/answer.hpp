// Answers `why`: what was decided about a pod, a node or a NodePool, out of recorded decisions
// (telemetry::DecisionLog). Pure: decisions and a question in, an answer out.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::app {

enum class AskedKind { Pod, Node, NodePool };
std::string_view to_string(AskedKind kind);  // "NodePool"

struct Question {
  AskedKind kind = AskedKind::Pod;
  std::string namespace_;  // of a pod
  std::string name;        // of a node: its own or its NodeClaim's
};
// `kind` as people write it: "pod", "pods", "po", "node", "nodeclaim", "nodepool", ...; of a pod,
// `name` may be "namespace/name".
base::Result<Question> make_question(std::string_view kind, std::string_view name,
                                     std::string_view in_namespace);

struct Answer {
  Question question;
  bool known = false;    // there are decisions about it
  std::string headline;  // one sentence
  // What belongs to it, each with a short heading: {"Change", "raise a budget in ..."}.
  std::vector<std::pair<std::string, std::string>> facts;
  // The newest decisions about it, newest first.
  std::vector<telemetry::DecisionPtr> decisions;
};

using Decisions = std::vector<telemetry::DecisionPtr>;

// `decisions` in the order they were made.
Answer answer(const Question& question, const Decisions& decisions);

// For people, and as JSON: {"kind", "namespace", "name", "known", "answer", "facts": [{"about",
// "text"}], "decisions": [...]}.
std::string to_text(const Answer& answer);
std::string to_json(const Answer& answer);

// The decisions among the lines of a log, in the order they were made. Other lines are passed over.
// Numbers begin anew with each process, so the time counts.
Decisions read_decisions(std::string_view text);

}  // namespace millwright::app
