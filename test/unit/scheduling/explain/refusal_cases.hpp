// One refusal and the change that its remedy names. The change is made, and the pod must then be
// placed: that is what makes the remedy true.
#pragma once

#include "unit/scheduling/topology/topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {

using ProblemEdit = std::function<void(Problem&)>;

// The pod and the pool that every case is about.
constexpr auto kRefused = "p";
constexpr auto kPool = "main";
inline const std::string kZoneKey(model::kZoneLabel);

// The change of one object of the problem.
inline ProblemEdit pod_becomes(std::function<void(model::Pod&)> edit) {
  return [edit](Problem& problem) {
    for (auto& each : problem.pods) {
      if (each->meta.name == kRefused) {
        auto copy = std::make_shared<model::Pod>(*each);
        edit(*copy);
        each = copy;
      }
    }
  };
}
inline ProblemEdit spec_becomes(std::function<void(model::PodSpec&)> edit) {
  return pod_becomes([edit](model::Pod& p) { edit(p.spec); });
}
inline ProblemEdit requests(std::string resource, std::string amount) {
  return spec_becomes(
      [=](model::PodSpec& spec) { spec.containers[0].requests[resource] = quantity(amount); });
}
inline ProblemEdit drops_selector(std::string_view key) {
  return spec_becomes([key = std::string(key)](model::PodSpec& spec) {
    spec.node_selector.erase(key);
    for (auto& required : spec.affinity.required_node_terms) {
      std::erase_if(required.match_expressions, [&](const auto& e) { return e.key == key; });
    }
  });
}
inline ProblemEdit pool_becomes(std::function<void(model::NodePool&)> edit) {
  return [edit](Problem& problem) {
    for (auto& option : problem.pools) {
      if (option.pool->meta.name == kPool) {
        auto copy = std::make_shared<model::NodePool>(*option.pool);
        edit(*copy);
        option.pool = copy;
      }
    }
  };
}
inline ProblemEdit requires_instead(model::SelectorRequirement requirement) {
  return pool_becomes([=](model::NodePool& p) {
    std::erase_if(p.template_.requirements,
                  [&](const auto& other) { return other.key == requirement.key; });
    p.template_.requirements.push_back(requirement);
  });
}
inline ProblemEdit labels_template(std::string key, std::string value) {
  return pool_becomes([=](model::NodePool& p) {
    if (!p.template_.labels) {
      p.template_.labels.emplace();
    }
    (*p.template_.labels)[key] = value;
  });
}
inline ProblemEdit raises_limit(std::string resource, std::string amount) {
  return pool_becomes([=](model::NodePool& p) { (*p.limits)[resource] = quantity(amount); });
}
inline ProblemEdit offers(InstanceTypes types) {
  return [=](Problem& problem) {
    for (auto& option : problem.pools) {
      option.types = types;
    }
  };
}
inline ProblemEdit both(ProblemEdit first, ProblemEdit second) {
  return [=](Problem& problem) {
    first(problem);
    second(problem);
  };
}
inline ProblemEdit world_becomes(std::function<void(Snapshot&)> edit) {
  return [edit](Problem& problem) {
    auto copy = problem.cluster ? std::make_shared<Snapshot>(*problem.cluster)
                                : std::make_shared<Snapshot>();
    edit(*copy);
    problem.cluster = copy;
  };
}

struct RefusalCase {
  std::string what;
  ProblemBuilder before;
  std::string reason;  // part of it
  std::string remedy;
  ProblemEdit change;
};

// A case about a pod and the pool "main" of three sizes.
inline ProblemBuilder simple(const PodBuilder& pod, const PoolBuilder& with = pool(kPool),
                             const InstanceTypes& types = three_sizes()) {
  return ProblemBuilder().add(with, types).add(pod);
}

inline void expect_refusals_and_remedies(const std::vector<RefusalCase>& cases) {
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const Plan plan = test.before.solve();
    const Refusal* refused = refusal(plan, kRefused);
    ASSERT_NE(refused, nullptr);
    EXPECT_THAT(refused->reason, ::testing::HasSubstr(test.reason));
    EXPECT_EQ(refused->remedy, test.remedy);
    Problem changed = test.before.problem();
    test.change(changed);
    const Plan after = solve(changed);
    const Refusal* still = refusal(after, kRefused);
    EXPECT_EQ(still, nullptr) << "still refused: " << still->reason;
    EXPECT_NE(place_of(after, kRefused), "");
  }
}

}  // namespace millwright::scheduling::testing
