// An answer as text and as JSON.

#include "app/asking/answer.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

constexpr std::size_t kHeading = 9;
constexpr std::size_t kShownDecisions = 5;

}  // namespace

std::string to_text(const Answer& answer) {
  std::string text = answer.headline + "\n";
  for (const auto& [heading, fact] : answer.facts) {
    std::string padded = heading;
    padded.resize(std::max(kHeading, heading.size() + 1), ' ');
    text.append("  ").append(padded).append(fact).append("\n");
  }
  if (!answer.decisions.empty()) {
    text += "Decided, newest first:\n";
  }
  const std::size_t shown = std::min(answer.decisions.size(), kShownDecisions);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& decision = *answer.decisions[i];
    text.append("  ").append(base::format_rfc3339(decision.time)).append("  ");
    text.append(telemetry::to_string(decision.kind)).append(": ").append(decision.message);
    text.append("\n");
  }
  return text;
}

std::string to_json(const Answer& answer) {
  boost::json::object json{{"kind", std::string(to_string(answer.question.kind))},
                           {"namespace", answer.question.namespace_},
                           {"name", answer.question.name},
                           {"known", answer.known},
                           {"answer", answer.headline}};
  boost::json::array facts;
  for (const auto& [heading, fact] : answer.facts) {
    facts.push_back({{"about", heading}, {"text", fact}});
  }
  json["facts"] = std::move(facts);
  // The decisions as their lines have them, numbers as people write them.
  std::string text = boost::json::serialize(json);
  text.back() = ',';
  text += "\"decisions\":[";
  for (std::size_t i = 0; i < answer.decisions.size(); ++i) {
    text.append(i == 0 ? "" : ",").append(telemetry::decision_line(*answer.decisions[i]));
  }
  return text + "]}\n";
}

}  // namespace millwright::app
