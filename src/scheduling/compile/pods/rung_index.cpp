#include "scheduling/compile/pods/rung_index.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

bool names_values(const Requirement& requirement) {
  return !requirement.is_complement() && !requirement.values().empty();
}

}  // namespace

RungIndex::RungIndex(const PodClasses& pods) : rungs_(pods.rung_count, nullptr) {
  for (const Constraint& constraint : pods.constraints) {
    for (const Rung& rung : constraint.ladder) {
      rungs_[rung.id] = &rung.requirements;
    }
  }
  std::map<std::string_view, std::size_t> users;
  for (const Requirements* rung : rungs_) {
    for (const Requirement& wanted : *rung) {
      users[wanted.key()] += names_values(wanted) ? 1 : 0;
    }
  }
  // The key that most rungs name values of tells most of them apart.
  for (std::uint32_t id = 0; id < rungs_.size(); ++id) {
    const Requirement* telling = nullptr;
    for (const Requirement& wanted : *rungs_[id]) {
      if (names_values(wanted) &&
          (telling == nullptr || users[wanted.key()] > users[telling->key()])) {
        telling = &wanted;
      }
    }
    if (telling != nullptr) {
      add_to_group(id, *telling);
    } else {
      rest_.push_back(id);
    }
  }
}

void RungIndex::add_to_group(std::uint32_t rung, const Requirement& wanted) {
  Group& group = groups_[wanted.key()];
  group.all.push_back(rung);
  for (const std::string& value : wanted.values()) {
    group.by_value[value].push_back(rung);
  }
}

std::vector<std::uint32_t> RungIndex::meeting(const Requirements& requirements) const {
  std::vector<std::uint32_t> result = rest_;
  const auto add = [&](const std::vector<std::uint32_t>& rungs) {
    result.insert(result.end(), rungs.begin(), rungs.end());
  };
  for (const auto& [key, group] : groups_) {
    const Requirement* mine = requirements.find(key);
    if (mine == nullptr || !names_values(*mine)) {
      add(group.all);
      continue;
    }
    for (const std::string& value : mine->values()) {
      if (const auto found = group.by_value.find(value); found != group.by_value.end()) {
        add(found->second);
      }
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase_if(result,
                [&](std::uint32_t rung) { return !requirements.intersects(*rungs_[rung]); });
  return result;
}

bool RungIndex::mostly_apart() const {
  const std::size_t half = rungs_.size() * rungs_.size() / 2;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < rungs_.size() && pairs < half; ++i) {
    pairs += meeting(*rungs_[i]).size();
  }
  return pairs < half;
}

}  // namespace millwright::scheduling
