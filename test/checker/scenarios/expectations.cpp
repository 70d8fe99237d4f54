#include "checker/scenarios/expectations.hpp"

#include "unit/scheduling/topology/topology_builders.hpp"

#include <boost/json.hpp>

#include <set>

namespace millwright::checker {
namespace {

namespace json = boost::json;
using namespace scheduling;           // NOLINT: a test helper about nothing else
using namespace scheduling::testing;  // NOLINT

std::string text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

std::set<std::string> set_of(const json::value& list) {
  std::set<std::string> result;
  for (const auto& item : list.as_array()) {
    result.insert(text(item));
  }
  return result;
}

std::string shown(const std::set<std::string>& items) {
  std::string result;
  for (const auto& item : items) {
    result += (result.empty() ? "" : ", ") + item;
  }
  return "[" + result + "]";
}

class Expectations {
 public:
  Expectations(const Scenario& scenario, const Plan& plan) : scenario_(scenario), plan_(plan) {}

  std::vector<std::string> unmet() {
    for (const auto& [key, wanted] : scenario_.expect.as_object()) {
      if (key == "claims") {
        claims(wanted.as_int64());
      } else if (key == "refused") {
        refused(wanted.as_object());
      } else if (key == "remedies") {
        remedies(wanted.as_object());
      } else if (key == "on") {
        on(wanted.as_object());
      } else if (key == "together" || key == "apart") {
        neighbours(wanted.as_array(), key == "together");
      } else if (key == "domains") {
        domains(wanted.as_object());
      } else if (key == "requirements") {
        requirements(wanted.as_object());
      } else if (key == "types") {
        types(wanted.as_object());
      } else if (key == "labels") {
        labels(wanted.as_object());
      } else {
        say("there is no expectation \"" + std::string(key) + "\"");
      }
    }
    if (!scenario_.expect.as_object().contains("refused") && !plan_.refusals.empty()) {
      say(plan_.refusals.front().pod_uid + " is refused: " + plan_.refusals.front().reason);
    }
    return std::move(unmet_);
  }

 private:
  void say(std::string sentence) { unmet_.push_back(std::move(sentence)); }

  void claims(std::int64_t wanted) {
    if (plan_.claims.size() != static_cast<std::size_t>(wanted)) {
      say(std::to_string(plan_.claims.size()) + " claims instead of " + std::to_string(wanted));
    }
  }

  // Exactly these pods, each with a part of its reason.
  void refused(const json::object& wanted) {
    std::set<std::string> names;
    for (const auto& [pod, reason] : wanted) {
      names.insert(std::string(pod));
      const auto* found = refusal(plan_, pod);
      if (found != nullptr && found->reason.find(text(reason)) == std::string::npos) {
        say(std::string(pod) + " is refused for another reason: " + found->reason);
      }
    }
    std::set<std::string> actual;
    for (const auto& item : plan_.refusals) {
      actual.insert(item.pod_uid);
    }
    if (actual != names) {
      say("refused are " + shown(actual) + " instead of " + shown(names));
    }
  }

  void remedies(const json::object& wanted) {
    for (const auto& [pod, remedy] : wanted) {
      const auto* found = refusal(plan_, pod);
      if (found == nullptr || found->remedy.find(text(remedy)) == std::string::npos) {
        say("the remedy for " + std::string(pod) + " is \"" +
            (found == nullptr ? "" : found->remedy) + "\"");
      }
    }
  }

  void on(const json::object& wanted) {
    for (const auto& [pod, node] : wanted) {
      const std::string place = place_of(plan_, pod);
      const bool met = text(node) == "claim" ? place.starts_with("claim ") : place == text(node);
      if (!met) {
        say(std::string(pod) + " is on \"" + place + "\" instead of " + text(node));
      }
    }
  }

  void neighbours(const json::array& groups, bool together) {
    for (const auto& group : groups) {
      std::set<std::string> places;
      for (const auto& pod : group.as_array()) {
        places.insert(place_of(plan_, text(pod)));
      }
      if (places.contains("") || places.size() != (together ? 1 : group.as_array().size())) {
        say("pods are on " + shown(places));
      }
    }
  }

  // key -> domain -> pods; under "<key> of <prefix>" only pods whose names start so.
  void domains(const json::object& wanted) {
    for (const auto& [what, counts] : wanted) {
      const std::string name(what);
      const auto of = name.find(" of ");
      const auto actual = per_domain(scenario_.problem, plan_, name.substr(0, of),
                                     of == std::string::npos ? std::string() : name.substr(of + 4));
      json::object as_json;
      for (const auto& [domain, count] : actual) {
        as_json[domain] = count;
      }
      if (json::value(as_json) != counts) {
        say(name + ": " + json::serialize(as_json) + " instead of " + json::serialize(counts));
      }
    }
  }

  // pod -> key -> the values that its claim may have; an empty list: the key is not there.
  void requirements(const json::object& wanted) {
    for (const auto& [pod, keys] : wanted) {
      const PlannedClaim* claim = claim_of(plan_, pod);
      for (const auto& [key, values] : keys.as_object()) {
        std::set<std::string> actual;
        if (claim != nullptr && claim->requirements.find(key) != nullptr) {
          const auto list = values_of(*claim, key);
          actual.insert(list.begin(), list.end());
        }
        if (claim == nullptr || actual != set_of(values)) {
          say(std::string(pod) + ": " + std::string(key) + " is " + shown(actual));
        }
      }
    }
  }

  void types(const json::object& wanted) {
    for (const auto& [pod, names] : wanted) {
      const PlannedClaim* claim = claim_of(plan_, pod);
      std::set<std::string> actual;
      if (claim != nullptr) {
        actual.insert(claim->instance_types.begin(), claim->instance_types.end());
      }
      if (actual != set_of(names)) {
        say(std::string(pod) + " gets one of " + shown(actual));
      }
    }
  }

  void labels(const json::object& wanted) {
    for (const auto& [pod, pairs] : wanted) {
      const PlannedClaim* claim = claim_of(plan_, pod);
      for (const auto& [key, value] : pairs.as_object()) {
        const bool met = claim != nullptr && claim->labels.contains(key) &&
                         claim->labels.find(key)->second == text(value);
        if (!met) {
          say(std::string(pod) + " gets no label " + std::string(key) + "=" + text(value));
        }
      }
    }
  }

  const Scenario& scenario_;
  const Plan& plan_;
  std::vector<std::string> unmet_;
};

}  // namespace

std::vector<std::string> unmet(const Scenario& scenario, const Plan& plan) {
  return Expectations(scenario, plan).unmet();
}

}  // namespace millwright::checker
