// Many NodeClaims at once: each is asked for again until it has its machine, as controllers do.
#pragma once

#include "millwright/cloud/provider.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud {

class Burst {
 public:
  Burst(base::VirtualLoop& loop, Provider& provider, std::shared_ptr<const model::NodeClass> of)
      : loop_(loop), provider_(provider), class_(std::move(of)), group_(loop) {}

  // The time until all had their machines; how many calls that took is in the http's list.
  // No type: of any.
  base::Duration launch(int count, const std::vector<std::string>& types = {}) {
    const auto began = loop_.now();
    for (int i = 0; i < count; ++i) {
      auto claim = std::make_shared<model::NodeClaim>();
      claim->meta.name = "c" + std::to_string(i);
      claim->meta.uid = "uid-" + claim->meta.name;
      claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
      claim->meta.creation_timestamp = loop_.now();
      if (!types.empty()) {
        claim->requirements = {{.key = std::string(model::kInstanceTypeLabel),
                                .op = model::Operator::In,
                                .values = types,
                                .min_values = {}}};
      }
      group_.spawn(keep_asking(std::move(claim)));
    }
    loop_.run_until([&] { return given.size() == static_cast<std::size_t>(count); },
                    std::chrono::minutes(10));
    return loop_.now() - began;
  }
  std::set<std::string> different() const {
    std::set<std::string> result;
    for (const auto& [claim, provider_id] : given) {
      result.insert(provider_id);
    }
    return result;
  }

  std::map<std::string, std::string> given;  // by claim: provider id

 private:
  base::Task<void> keep_asking(std::shared_ptr<const model::NodeClaim> claim) {
    while (true) {
      auto answer = co_await provider_.create(claim, class_);
      if (answer) {
        given[claim->meta.name] = answer->provider_id;
        co_return;
      }
      co_await base::sleep(loop_, std::chrono::seconds(1));
    }
  }

  base::VirtualLoop& loop_;
  Provider& provider_;
  std::shared_ptr<const model::NodeClass> class_;
  base::TaskGroup group_;
};

}  // namespace millwright::cloud
