#include "app/asking/answer.hpp"

#include "millwright/base/money.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace millwright::app {
namespace {

using telemetry::Decision;
using telemetry::DecisionKind;
using telemetry::DecisionPtr;

constexpr std::size_t kMostTold = 10;
constexpr std::size_t kMostNamed = 5;

// "1 node", "2 nodes".
std::string told_count(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') {
    text += '.';
  }
  return text;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNamed) {
    text += " and " + told_count(names.size() - kMostNamed, "other");
  }
  return text;
}

bool is_about(const Decision& decision, std::string_view kind, std::string_view name) {
  return std::any_of(decision.about.begin(), decision.about.end(), [&](const auto& subject) {
    return subject.kind == kind && subject.name == name;
  });
}

void add_alternatives(Answer& answer, const Decision& decision) {
  for (const auto& [what, why_not, price] : decision.alternatives) {
    answer.facts.emplace_back(
        "Instead", what + (price ? " at " + base::format_price(*price) : "") + ": " + why_not);
  }
}

void add_change(Answer& answer, const Decision& decision) {
  if (!decision.remedy.empty()) {
    answer.facts.emplace_back("Change", decision.remedy);
  }
}

// -- pods

// Whether the decision says something of where the pod is to be.
bool concerns_pod(const Decision& decision, const std::string& pod, const Question& question) {
  if (decision.kind == DecisionKind::Refusal) {
    return std::any_of(decision.about.begin(), decision.about.end(), [&](const auto& subject) {
      return subject.name == question.name && subject.namespace_ == question.namespace_;
    });
  }
  return decision.targets.contains(pod) ||
         std::find(decision.pods.begin(), decision.pods.end(), pod) != decision.pods.end();
}

std::string subject_of(const Decision& decision) {
  return decision.about.empty() ? std::string("a node")
                                : decision.about.front().kind + " " + decision.about.front().name;
}

void tell_pod(Answer& answer, const std::string& pod) {
  const Decision& last = *answer.decisions.front();
  const auto target = last.targets.find(pod);
  switch (last.kind) {
    case DecisionKind::Refusal:
      answer.headline = "Pod " + pod + " has no place: " + sentence(last.message);
      add_change(answer, last);
      answer.facts.emplace_back(
          "Again", "with every plan: when pods, nodes, NodePools or what the cloud sells change");
      return;
    case DecisionKind::Purchase:
      answer.headline = "Room for pod " + pod + " was bought: " + subject_of(last) + ".";
      answer.facts.emplace_back("Bought", last.message);
      add_alternatives(answer, last);
      if (!last.about.empty()) {
        answer.facts.emplace_back("Next", "kubectl describe nodeclaim " + last.about.front().name +
                                              ": how far its machine has come");
      }
      return;
    case DecisionKind::Removal:
      answer.headline = "The node of pod " + pod + " goes: " + sentence(last.message);
      if (target != last.targets.end()) {
        answer.facts.emplace_back("Room", "its successor has room on " + target->second);
      }
      return;
    default:
      answer.headline = target == last.targets.end()
                            ? sentence(last.message)
                            : "Pod " + pod + " has room on " + target->second +
                                  ", which exists: nothing is bought for it.";
  }
}

// -- nodes

// Node and NodeClaim stand side by side in a decision: the names that belong to the one asked for.
std::set<std::string> names_of_node(const std::string& name, const Decisions& decisions) {
  std::set<std::string> names{name};
  for (const auto& decision : decisions) {
    const auto& about = decision->about;
    for (std::size_t i = 1; i < about.size(); ++i) {
      const bool pair = about[i - 1].kind == "NodeClaim" && about[i].kind == "Node";
      if (pair && (names.contains(about[i].name) || names.contains(about[i - 1].name))) {
        names.insert(about[i].name);
        names.insert(about[i - 1].name);
      }
    }
  }
  return names;
}

// The summary of a removal begins with its cause.
std::string without_cause(const Decision& removal) {
  const std::string begin = removal.cause + ": ";
  return removal.message.starts_with(begin) ? removal.message.substr(begin.size())
                                            : removal.message;
}

const Decision* newest_of(const Answer& answer, std::initializer_list<DecisionKind> kinds) {
  for (const auto& decision : answer.decisions) {
    if (std::find(kinds.begin(), kinds.end(), decision->kind) != kinds.end()) {
      return decision.get();
    }
  }
  return nullptr;
}

void tell_purchase(Answer& answer) {
  if (const auto* bought = newest_of(answer, {DecisionKind::Purchase})) {
    answer.facts.emplace_back("Bought",
                              base::format_rfc3339(bought->time) + ": " + bought->message);
    if (!bought->pods.empty()) {
      answer.facts.emplace_back("For", list_of(bought->pods));
    }
    add_alternatives(answer, *bought);
  }
}

void tell_kept(Answer& answer, const std::string& name, const Decision& kept) {
  answer.headline = "Node " + name + " stays: " + sentence(kept.message);
  add_change(answer, kept);
  if (kept.price) {
    answer.facts.emplace_back("Price", base::format_price(*kept.price));
  }
  answer.facts.emplace_back(
      "Again", kept.look_again
                   ? "at " + base::format_rfc3339(*kept.look_again) + ", or when something changes"
                   : "when something changes, and every ten seconds");
}

void tell_node(Answer& answer, const std::string& name) {
  const auto* last =
      newest_of(answer, {DecisionKind::Kept, DecisionKind::Removal, DecisionKind::TakenBack});
  if (last == nullptr) {
    answer.headline = "Node " + name + " was bought; nothing was decided about its removal yet.";
  } else if (last->kind == DecisionKind::Kept) {
    tell_kept(answer, name, *last);
  } else if (last->kind == DecisionKind::Removal) {
    answer.headline =
        "Node " + name + " goes (" + last->cause + "): " + sentence(without_cause(*last));
    if (last->saved) {
      answer.facts.emplace_back("Saves", base::format_price(*last->saved));
    }
    if (!last->pods.empty()) {
      answer.facts.emplace_back("Moves", list_of(last->pods));
    }
    add_alternatives(answer, *last);
  } else {
    answer.headline = "Node " + name + " was to go, and stays for now: " + sentence(last->message);
  }
  tell_purchase(answer);
}

// -- NodePools

void tell_pool(Answer& answer, const Decisions& decisions) {
  std::size_t bought = 0;
  double bought_price = 0;
  std::size_t removed = 0;
  double saved = 0;
  struct Kept {
    std::size_t nodes = 0;
    double price = 0;
    const Decision* newest = nullptr;
  };
  std::map<std::string, const Decision*> last_of_node;
  for (const auto& decision : decisions) {
    switch (decision->kind) {
      case DecisionKind::Purchase:
        ++bought;
        bought_price += decision->price.value_or(0);
        break;
      case DecisionKind::Removal:
        ++removed;
        saved += decision->saved.value_or(0);
        break;
      default:
        break;
    }
    for (const auto& subject : decision->about) {
      if (subject.kind == "NodeClaim") {
        last_of_node[subject.name] = decision.get();
      }
    }
  }
  std::map<std::string, Kept> kept;
  for (const auto& [node, decision] : last_of_node) {
    if (decision->kind == DecisionKind::Kept) {
      auto& cause = kept[decision->cause];
      ++cause.nodes;
      cause.price += decision->price.value_or(0);
      cause.newest = decision;
    }
  }
  answer.headline = "NodePool " + answer.question.name + ": " + told_count(bought, "node") +
                    " bought for " + base::format_price(bought_price) + ", " +
                    told_count(removed, "removal") +
                    (removed == 1 ? " that saves " : " that save ") + base::format_price(saved) +
                    ", as far as the record goes back.";
  for (const auto& [cause, about] : kept) {
    answer.facts.emplace_back("Stays", told_count(about.nodes, "node") + " for " +
                                           base::format_price(about.price) + ", " + cause + ": " +
                                           sentence(about.newest->message));
    add_change(answer, *about.newest);
  }
}

bool concerns(const Decision& decision, const Question& question, const std::string& pod,
              const std::set<std::string>& nodes) {
  switch (question.kind) {
    case AskedKind::Pod:
      return concerns_pod(decision, pod, question);
    case AskedKind::Node:
      return std::any_of(nodes.begin(), nodes.end(), [&](const auto& name) {
        return is_about(decision, "Node", name) || is_about(decision, "NodeClaim", name);
      });
    case AskedKind::NodePool:
      return decision.node_pool == question.name;
  }
  return false;
}

void tell_unknown(Answer& answer) {
  const auto& [kind, namespace_, name] = answer.question;
  const bool is_pod = kind == AskedKind::Pod;
  answer.headline = "No decision about " + std::string(to_string(kind)) + " " +
                    (is_pod ? namespace_ + "/" + name : name) +
                    " is on record: there was none, or it is older than the record.";
  std::string next;
  switch (kind) {
    case AskedKind::Pod:
      next = "kubectl describe pod -n " + namespace_ + " " + name +
             ": whether it is there; one that found room without waiting has no decision";
      break;
    case AskedKind::Node:
      next =
          "kubectl get nodes,nodeclaims: whether it is there; nodes without a NodeClaim are never "
          "removed, so nothing is decided about them";
      break;
    case AskedKind::NodePool:
      next =
          "kubectl describe nodepool " + name +
          ": whether it is there and ready; until something is bought there, nothing is on record";
      break;
  }
  answer.facts.emplace_back("Next", std::move(next));
}

}  // namespace

std::string_view to_string(AskedKind kind) {
  switch (kind) {
    case AskedKind::Pod:
      return "Pod";
    case AskedKind::Node:
      return "Node";
    case AskedKind::NodePool:
      return "NodePool";
  }
  return {};
}

base::Result<Question> make_question(std::string_view kind, std::string_view name,
                                     std::string_view in_namespace) {
  static const std::map<std::string_view, AskedKind> kKinds{{"pod", AskedKind::Pod},
                                                            {"pods", AskedKind::Pod},
                                                            {"po", AskedKind::Pod},
                                                            {"node", AskedKind::Node},
                                                            {"nodes", AskedKind::Node},
                                                            {"no", AskedKind::Node},
                                                            {"nodeclaim", AskedKind::Node},
                                                            {"nodeclaims", AskedKind::Node},
                                                            {"nodepool", AskedKind::NodePool},
                                                            {"nodepools", AskedKind::NodePool}};
  const auto found = kKinds.find(kind);
  if (found == kKinds.end()) {
    return base::fail(base::ErrorKind::Invalid, "why " + std::string(kind) +
                                                    ": ask about a pod, a node, a nodeclaim or a "
                                                    "nodepool");
  }
  const auto slash = name.find('/');
  const bool has_namespace = found->second == AskedKind::Pod && slash != std::string_view::npos;
  Question question{.kind = found->second,
                    .namespace_ = {},
                    .name = std::string(has_namespace ? name.substr(slash + 1) : name)};
  if (question.kind == AskedKind::Pod) {
    question.namespace_ = has_namespace ? name.substr(0, slash) : in_namespace;
  }
  if (question.name.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "why " + std::string(kind) + ": name the object to ask about");
  }
  return question;
}

Answer answer(const Question& question, const Decisions& decisions) {
  Answer result{.question = question, .headline = {}, .facts = {}, .decisions = {}};
  const std::string pod = question.namespace_ + "/" + question.name;
  const auto nodes = question.kind == AskedKind::Node ? names_of_node(question.name, decisions)
                                                      : std::set<std::string>();
  Decisions found;
  for (const auto& decision : decisions) {
    if (concerns(*decision, question, pod, nodes)) {
      found.push_back(decision);
    }
  }
  if (found.empty()) {
    tell_unknown(result);
    return result;
  }
  result.known = true;
  result.decisions.assign(found.rbegin(), found.rend());
  switch (question.kind) {
    case AskedKind::Pod:
      tell_pod(result, pod);
      break;
    case AskedKind::Node:
      tell_node(result, question.name);
      break;
    case AskedKind::NodePool:
      tell_pool(result, found);
      break;
  }
  if (result.decisions.size() > kMostTold) {
    result.decisions.resize(kMostTold);
  }
  return result;
}

Decisions read_decisions(std::string_view text) {
  Decisions decisions;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (auto decision = telemetry::parse_decision_line(text.substr(0, end))) {
      decisions.push_back(std::make_shared<const Decision>(*std::move(decision)));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  std::stable_sort(decisions.begin(), decisions.end(),
                   [](const auto& a, const auto& b) { return a->time < b->time; });
  return decisions;
}

}  // namespace millwright::app
