// Decisions as lines of JSON, and back.

#include "millwright/model/json_fields.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace millwright::telemetry {
namespace {

constexpr std::string_view kLogger = "decisions";
constexpr std::array<std::string_view, kDecisionKinds> kKindNames{
    "plan", "purchase", "refusal", "removal", "taken-back", "kept"};

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::value(text));
}

// Boost writes 0.41 as 4.1E-1, which people cannot read.
std::string decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", number);
  return text.data();
}

// Members in the order given; empty ones are left out.
class Line {
 public:
  void raw(std::string_view name, const std::string& json) {
    text_.append(text_.empty() ? "{" : ",").append(quoted(name)).append(":").append(json);
  }
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) {
      raw(name, quoted(value));
    }
  }
  void number(std::string_view name, std::optional<double> value) {
    if (value) {
      raw(name, decimal(*value));
    }
  }
  std::string take() && { return (text_.empty() ? "{" : std::move(text_)) + "}"; }

 private:
  std::string text_;
};

template <class List, class Write>
std::string array_of(const List& list, Write write) {
  std::string text = "[";
  for (const auto& item : list) {
    text.append(text.size() == 1 ? "" : ",").append(write(item));
  }
  return text + "]";
}

std::string line_of(const DecisionSubject& subject) {
  Line line;
  line.text("kind", subject.kind);
  line.text("namespace", subject.namespace_);
  line.text("name", subject.name);
  return std::move(line).take();
}

std::string line_of(const Alternative& alternative) {
  Line line;
  line.text("what", alternative.what);
  line.text("whyNot", alternative.why_not);
  line.number("price", alternative.price);
  return std::move(line).take();
}

std::string line_of(const std::map<std::string, std::string>& targets) {
  Line line;
  for (const auto& [pod, target] : targets) {
    line.text(pod, target);
  }
  return std::move(line).take();
}

std::string text_of(const boost::json::value& json, std::string_view name) {
  return std::string(model::as_text(model::member(json, name)));
}

std::optional<double> number_of(const boost::json::value& json, std::string_view name) {
  const auto* value = model::member(json, name);
  return value != nullptr && value->is_number() ? std::optional(value->to_number<double>())
                                                : std::nullopt;
}

template <class Each>
void each_of(const boost::json::value& json, std::string_view name, Each each) {
  const auto* value = model::member(json, name);
  if (const auto* list = value == nullptr ? nullptr : value->if_array()) {
    std::for_each(list->begin(), list->end(), each);
  }
}

Decision read_decision(const boost::json::value& json, DecisionKind kind, base::TimePoint time) {
  Decision decision{.time = time,
                    .kind = kind,
                    .trace = text_of(json, "trace"),
                    .inputs = text_of(json, "inputs"),
                    .about = {},
                    .node_pool = text_of(json, "nodepool"),
                    .cause = text_of(json, "cause"),
                    .message = text_of(json, "message"),
                    .remedy = text_of(json, "remedy"),
                    .price = number_of(json, "price"),
                    .saved = number_of(json, "saved"),
                    .alternatives = {},
                    .pods = {},
                    .targets = {},
                    .look_again = base::parse_rfc3339(text_of(json, "lookAgain"))};
  // What JSON numbers hold exactly; any other is no number of a decision.
  constexpr double kMostExact = 9e15;
  const double number = number_of(json, "number").value_or(0);
  decision.number = number >= 0 && number < kMostExact ? static_cast<std::uint64_t>(number) : 0;
  each_of(json, "about", [&](const auto& item) {
    decision.about.push_back({.kind = text_of(item, "kind"),
                              .namespace_ = text_of(item, "namespace"),
                              .name = text_of(item, "name")});
  });
  each_of(json, "alternatives", [&](const auto& item) {
    decision.alternatives.push_back({.what = text_of(item, "what"),
                                     .why_not = text_of(item, "whyNot"),
                                     .price = number_of(item, "price")});
  });
  each_of(json, "pods",
          [&](const auto& item) { decision.pods.emplace_back(model::as_text(&item)); });
  const auto* targets = model::member(json, "targets");
  if (const auto* object = targets == nullptr ? nullptr : targets->if_object()) {
    for (const auto& [pod, target] : *object) {
      decision.targets.emplace(std::string_view(pod.data(), pod.size()), model::as_text(&target));
    }
  }
  return decision;
}

}  // namespace

std::string_view to_string(DecisionKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<DecisionKind> parse_decision_kind(std::string_view text) {
  const auto* const found = std::find(kKindNames.begin(), kKindNames.end(), text);
  return found == kKindNames.end()
             ? std::nullopt
             : std::optional(static_cast<DecisionKind>(std::distance(kKindNames.begin(), found)));
}

std::string decision_line(const Decision& decision) {
  Line line;
  line.text("level", "INFO");
  line.text("time", base::format_rfc3339_micro(decision.time));
  line.text("logger", kLogger);
  line.text("message", decision.message);
  line.text("decision", to_string(decision.kind));
  line.raw("number", std::to_string(decision.number));
  line.text("cause", decision.cause);
  line.text("remedy", decision.remedy);
  line.text("trace", decision.trace);
  line.text("inputs", decision.inputs);
  line.text("nodepool", decision.node_pool);
  line.number("price", decision.price);
  line.number("saved", decision.saved);
  if (decision.look_again) {
    line.text("lookAgain", base::format_rfc3339_micro(*decision.look_again));
  }
  line.raw("about", array_of(decision.about, [](const auto& item) { return line_of(item); }));
  if (!decision.alternatives.empty()) {
    line.raw("alternatives",
             array_of(decision.alternatives, [](const auto& item) { return line_of(item); }));
  }
  if (!decision.pods.empty()) {
    line.raw("pods", array_of(decision.pods, [](const auto& pod) { return quoted(pod); }));
  }
  if (!decision.targets.empty()) {
    line.raw("targets", line_of(decision.targets));
  }
  return std::move(line).take();
}

std::optional<Decision> parse_decision_line(std::string_view line) {
  boost::json::error_code error;
  const auto json = boost::json::parse(boost::json::string_view(line.data(), line.size()), error);
  if (error || text_of(json, "logger") != kLogger) {
    return std::nullopt;
  }
  const auto kind = parse_decision_kind(text_of(json, "decision"));
  const auto time = base::parse_rfc3339(text_of(json, "time"));
  return kind && time ? std::optional(read_decision(json, *kind, *time)) : std::nullopt;
}

}  // namespace millwright::telemetry
