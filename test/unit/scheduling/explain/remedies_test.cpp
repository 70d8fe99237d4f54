// On random problems: whoever does what a remedy says gets the pod placed. Only remedies that can
// be carried out by machine are; the others have their cases in explain_test and explain_pods_test.
#include "checker/plan/random_world.hpp"
#include "refusal_cases.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace millwright::scheduling::testing {
namespace {

// Takes the text up to `end` and `end` itself off the front.
std::string take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find(end), text.size());
  std::string part(text.substr(0, at));
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return part;
}

bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) {
    return false;
  }
  text.remove_prefix(beginning.size());
  return true;
}

class Carrier {
 public:
  Carrier(Problem problem, std::string uid) : problem_(std::move(problem)), uid_(std::move(uid)) {}

  // nullopt: some part is for people to carry out.
  std::optional<Problem> carry_out(std::string_view remedy) {
    while (!remedy.empty()) {
      const std::string change = take_until(remedy, ", and ");
      if (!one(change)) {
        return std::nullopt;
      }
    }
    return problem_;
  }

 private:
  template <class Edit>
  void edit_pod(Edit edit) {
    for (auto& each : problem_.pods) {
      if (each->meta.uid == uid_) {
        auto copy = std::make_shared<model::Pod>(*each);
        edit(*copy);
        each = copy;
      }
    }
  }
  template <class Edit>
  void edit_pool(const std::string& name, Edit edit) {
    for (auto& option : problem_.pools) {
      if (option.pool->meta.name == name) {
        auto copy = std::make_shared<model::NodePool>(*option.pool);
        edit(*copy);
        option.pool = copy;
      }
    }
  }

  bool one(std::string_view change) {
    if (take(change, "fits if ")) {
      return reduce(change);
    }
    if (take(change, "raise limits.")) {
      return raise(change);
    }
    if (take(change, "tolerate ")) {
      return tolerate(change);
    }
    if (take(change, "raise maxSkew to ")) {
      const int skew = std::stoi(take_until(change, ","));
      edit_pod([&](model::Pod& pod) {
        for (auto& constraint : pod.spec.topology_spread) {
          constraint.max_skew = std::max(constraint.max_skew, skew);
        }
      });
      return true;
    }
    if (take(change, "allow ")) {
      return allow(change);
    }
    if (take(change, "add label ")) {
      const std::string key = take_until(change, "=");
      const std::string value = take_until(change, " to the template of NodePool ");
      edit_pool(std::string(change), [&](model::NodePool& pool) {
        if (!pool.template_.labels) {
          pool.template_.labels.emplace();
        }
        (*pool.template_.labels)[key] = value;
      });
      return !change.empty();
    }
    if (take(change, "remove ")) {
      return remove(change);
    }
    return false;
  }

  // "cpu <= 1 and memory <= 2Gi"
  bool reduce(std::string_view text) {
    while (!text.empty()) {
      std::string_view part = text;
      const std::string item = take_until(text, " and ");
      part = item;
      const std::string resource = take_until(part, " <= ");
      const std::string amount(part);
      edit_pod([&](model::Pod& pod) {
        model::ResourceList& list = pod.spec.containers.at(0).requests;
        pod.spec.containers.resize(1);
        pod.spec.init_containers.clear();
        pod.spec.overhead.clear();
        pod.spec.pod_requests.clear();
        list[resource] = quantity(amount);
      });
    }
    return true;
  }

  // "cpu of NodePool main to 2 and limits.memory of NodePool main to 4Gi"
  bool raise(std::string_view text) {
    while (!text.empty()) {
      const std::string item = take_until(text, " and limits.");
      std::string_view part = item;
      const std::string resource = take_until(part, " of NodePool ");
      const std::string pool = take_until(part, " to ");
      edit_pool(pool, [&](model::NodePool& p) { (*p.limits)[resource] = quantity(part); });
    }
    return true;
  }

  // "key=value:Effect"
  bool tolerate(std::string_view text) {
    std::string_view rest = text;
    std::string key = take_until(rest, ":");
    key = key.substr(0, key.find('='));
    edit_pod([&](model::Pod& pod) {
      pod.spec.tolerations.push_back(
          {.key = key, .op = "Exists", .value = {}, .effect = std::string(rest)});
    });
    return true;
  }

  // "key value in NodePool main"
  bool allow(std::string_view text) {
    const std::string key = take_until(text, " ");
    const std::string value = take_until(text, " in NodePool ");
    if (text.empty() || value.find(' ') != std::string::npos) {
      return false;
    }
    edit_pool(std::string(text), [&](model::NodePool& pool) {
      std::erase_if(pool.template_.requirements, [&](const auto& each) { return each.key == key; });
      pool.template_.requirements.push_back(need(key, Operator::In, {value}));
    });
    return true;
  }

  // "key and remove other from its node selector, or wait for capacity"
  bool remove(std::string_view text) {
    if (text.find("node selector") == std::string_view::npos) {
      return false;
    }
    while (text.find(" from its node selector") != std::string_view::npos) {
      const std::string key = take_until(text, " from its node selector");
      take(text, " and remove ");
      edit_pod([&](model::Pod& pod) {
        pod.spec.node_selector.erase(key);
        for (auto& term : pod.spec.affinity.required_node_terms) {
          std::erase_if(term.match_expressions, [&](const auto& each) { return each.key == key; });
        }
      });
    }
    return true;
  }

  Problem problem_;
  std::string uid_;
};

// The problem without the other pods that were refused.
Problem of_one(const Problem& problem, const Plan& plan, const std::string& uid) {
  Problem result = problem;
  std::erase_if(result.pods, [&](const PodPtr& pod) {
    return pod->meta.uid != uid && refusal(plan, pod->meta.uid) != nullptr;
  });
  return result;
}

// What keeps a pod out beyond its own contradictions is not looked at before those are gone.
bool contradicts_itself(const Refusal& refused) {
  return refused.reason.starts_with("it can never be scheduled");
}

TEST(Remedies, PlaceThePodOnRandomProblems) {
  std::size_t carried = 0;
  std::string broken;
  std::size_t count = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const Problem problem = checker::random_world(seed);
    const Plan plan = solve(problem);
    std::string last;
    for (const Refusal& refused : plan.refusals) {
      EXPECT_NE(refused.remedy, "") << "seed " << seed << ": " << refused.reason;
      if (refused.reason == last || contradicts_itself(refused)) {
        continue;  // replicas are refused alike
      }
      last = refused.reason;
      const auto changed = Carrier(of_one(problem, plan, refused.pod_uid), refused.pod_uid)
                               .carry_out(refused.remedy);
      if (!changed) {
        continue;
      }
      ++carried;
      const Plan after = solve(*changed);
      if (const auto* still = refusal(after, refused.pod_uid)) {
        ++count;
        broken += "seed " + std::to_string(seed) + " " + refused.pod_uid + ": " + refused.reason +
                  "\n  to do: " + refused.remedy + "\n  still: " + still->reason + "\n";
      }
    }
  }
  EXPECT_GT(carried, 250U);
  // Others may take what was made free: a raised limit is everybody's, and the pods around are
  // placed anew. It happens to one in sixty.
  EXPECT_LE(count * 30, carried) << broken;
}

}  // namespace
}  // namespace millwright::scheduling::testing
