#include "disruption/methods/lookahead.hpp"

#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/methods.hpp"
#include "disruption/methods/prices/savings.hpp"
#include "disruption/simulation/carried_out.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace millwright::disruption {
namespace {

// Removed by one command, as by any other.
constexpr std::size_t kMostJoined = 100;

// From then on, options beyond the first are not looked at.
constexpr std::size_t kMostWorkForOthers = kMostWork / 2;

// Where fewer surveys than these make up all the work that is allowed, no course would end.
constexpr std::size_t kLeastSurveys = 8;

// Where the work that is allowed is as much as so many surveys, Karpenter's own course is followed
// until it can be played to its end.
constexpr std::size_t kSurveysOfSmall = 150;

// Commands, each on what those before it leave, until no more is found.
struct Course {
  std::vector<Command> commands;
  double cost = 0;       // per hour, of the nodes that may go, when it has ended
  double evictions = 0;  // what they cost, once
  Input end;             // what they leave
  bool ended = false;    // it did not take too long to find out

  double value() const { return cost + evictions; }
};

bool is_less(double a, double b) {
  return a < b - kRounding * b;
}

bool ends_better(const Course& course, const Course& than) {
  if (is_less(course.value(), than.value()) || is_less(than.value(), course.value())) {
    return course.value() < than.value();
  }
  return course.commands.size() < than.commands.size();
}

// Nodes and pods.
std::size_t size_of(const scheduling::Snapshot& snapshot) {
  std::size_t size = snapshot.nodes.size();
  for (const auto& record : snapshot.nodes) {
    size += record->pods.size();
  }
  return size;
}

bool is_too_large(const scheduling::Snapshot& snapshot) {
  return size_of(snapshot) * kLeastSurveys > kMostWork;
}

// So that Karpenter's course, if followed, can be played to its end a few steps later.
bool is_small(const scheduling::Snapshot& snapshot) {
  return size_of(snapshot) * kSurveysOfSmall <= kMostWork;
}

double hourly_cost(const Survey& survey) {
  double sum = 0;
  for (const auto& candidate : survey.candidates()) {
    sum += candidate.cost();
  }
  return sum;
}

bool matches(const std::optional<model::LabelSelector>& selector, const model::Pod& pod) {
  return !selector || selector->matches(pod.meta.labels);
}

// Whether a rule of the one may be about the other; namespaces and the like are left out.
bool may_concern(const model::PodSpec& spec, const model::Pod& other) {
  const auto& affinity = spec.affinity;
  const auto concerns = [&](const auto& rules, const auto& selector_of) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const auto& rule) { return matches(selector_of(rule), other); });
  };
  const auto own = [](const auto& rule) -> auto& { return rule.label_selector; };
  const auto of_term = [](const auto& rule) -> auto& { return rule.term.label_selector; };
  return concerns(spec.topology_spread, own) || concerns(affinity.required_pod_affinity, own) ||
         concerns(affinity.required_pod_anti_affinity, own) ||
         concerns(affinity.preferred_pod_affinity, of_term) ||
         concerns(affinity.preferred_pod_anti_affinity, of_term);
}

// What is left of it once the command, given on this survey, has been carried out.
StayingAlone still_staying(const Survey& survey, const Command& command) {
  StayingAlone staying = survey.staying();
  if (!command.replacements.empty() || !survey.input().options.solve.default_spread.empty() ||
      !survey.competitors(Reason::Underutilized).empty()) {
    return {};
  }
  for (const auto& claim : command.claims) {
    for (const auto& moved : survey.find(claim)->pods()) {
      std::erase_if(staying, [&](const auto& record) {
        return std::any_of(record->pods.begin(), record->pods.end(), [&](const auto& pod) {
          return may_concern(pod->spec, *moved) || may_concern(moved->spec, *pod);
        });
      });
    }
  }
  return staying;
}

std::optional<Command> karpenters_next(Survey& survey) {
  auto command = remove_empty(survey);
  return command ? std::move(command) : consolidate_as_karpenter(survey);
}

// What `first` begins, as Karpenter would go on. When that takes too long: what has been found by
// then.
Course play(const Survey& survey, Command first) {
  Course course;
  SurveyTools tools{
      .memory = {}, .work = survey.shared_work(), .staying = still_staying(survey, first)};
  auto input = carried_out(survey, first);
  for (std::optional<Command> next = std::move(first); next;) {
    course.evictions += next->eviction_price;
    course.commands.push_back(*std::move(next));
    Survey after(input, {}, std::move(tools));
    next = karpenters_next(after);
    if (after.work().is_enough()) {
      break;
    }
    if (!next) {
      course.cost = hourly_cost(after);
      course.end = input;
      course.ended = true;
      break;
    }
    auto following = carried_out(after, *next);
    auto staying = still_staying(after, *next);
    tools = std::move(after).take_tools();
    tools.staying = std::move(staying);
    input = std::move(following);
  }
  return course;
}

// The nodes of today's cluster that a course has removed, and where it has left their pods.
struct Joined {
  std::vector<const Candidate*> nodes;
  std::vector<scheduling::Placement> placements;  // on nodes of today that stay
};

Joined join(const Survey& survey, const std::vector<Command>& commands) {
  Joined joined;
  Allowance allowance(survey, Reason::Underutilized);
  std::map<std::string_view, const scheduling::Placement*> last;
  std::set<std::string_view> going;
  for (const auto& command : commands) {
    for (const auto& name : command.claims) {
      const auto* candidate = survey.find(name);
      if (candidate != nullptr && joined.nodes.size() < kMostJoined && !candidate->empty() &&
          !ineligible(*candidate) && pods_that_keep(*candidate, Reason::Underutilized) == nullptr &&
          allowance.take(*candidate->pool)) {
        joined.nodes.push_back(candidate);
        going.insert(candidate->record->name());
      }
    }
    for (const auto& placement : command.placements) {
      last[placement.pod_uid] = &placement;
    }
  }
  for (const auto& [uid, placement] : last) {
    const auto* node = std::get_if<std::string>(&placement->target);
    if (node != nullptr && !going.contains(*node) &&
        survey.destinations().find_node(*node) != nullptr) {
      joined.placements.push_back(*placement);
    }
  }
  return joined;
}

// Whether `joined` leaves the cluster as these commands leave it, which buy nothing.
bool comes_to_the_same(const Command& joined, const std::vector<Command>& removals) {
  std::set<std::string_view> claims;
  std::map<std::string_view, std::string_view> places;
  for (const auto& command : removals) {
    claims.insert(command.claims.begin(), command.claims.end());
    for (const auto& placement : command.placements) {
      places[placement.pod_uid] = std::get<std::string>(placement.target);
    }
  }
  return joined.replacements.empty() && joined.placements.size() == places.size() &&
         std::equal(claims.begin(), claims.end(), joined.claims.begin(), joined.claims.end()) &&
         std::all_of(joined.placements.begin(), joined.placements.end(), [&](const auto& each) {
           const auto found = places.find(each.pod_uid);
           return found != places.end() && found->second == std::get<std::string>(each.target);
         });
}

class LookAhead {
 public:
  explicit LookAhead(Survey& survey) : survey_(survey) {
    survey.work().allow(most_work(*survey.input().snapshot));
  }

  Command best_of(std::vector<Command> options) {
    auto theirs = consolidate_as_karpenter(survey_);
    if (!theirs) {
      return std::move(options.front());
    }
    auto reference = play(survey_, *std::move(theirs));
    if (!reference.ended) {
      return is_small(*survey_.input().snapshot) ? begin(std::move(reference.commands))
                                                 : std::move(options.front());
    }
    most_ = reference.cost;
    tried_.push_back(reference.commands.front());
    take(std::move(reference));
    for (std::size_t i = 0; i < options.size(); ++i) {
      // The first has to be looked at, and others where there is time.
      if (is_tried(options[i]) || (i > 0 && survey_.work().spent() > kMostWorkForOthers)) {
        continue;
      }
      if (auto course = play(survey_, options[i]); course.ended) {
        consider(std::move(course));
      }
    }
    while (goes_on()) {
    }
    return std::move(best_.commands.front());
  }

 private:
  // Karpenter's own first steps, as one where that comes to the very same.
  Command begin(std::vector<Command> commands) {
    const auto buys = std::find_if(commands.begin(), commands.end(),
                                   [](const Command& each) { return !each.replacements.empty(); });
    std::vector<Command> removals(commands.begin(), buys);
    for (; removals.size() > 1; removals.resize(removals.size() / 2)) {
      const auto joined = join(survey_, removals);
      auto result = consolidate_as_wanted(survey_, joined.nodes, joined.placements);
      if (result.command && comes_to_the_same(*result.command, removals)) {
        return *std::move(result.command);
      }
    }
    return std::move(commands.front());
  }

  bool is_tried(const Command& command) const {
    return std::any_of(tried_.begin(), tried_.end(), [&](const Command& each) {
      return each.claims == command.claims && each.savings == command.savings;
    });
  }

  void consider(Course course) {
    tried_.push_back(course.commands.front());
    if (!is_less(most_, course.cost) && ends_better(course, best_)) {
      take(std::move(course));
    }
  }

  void take(Course course) {
    best_ = std::move(course);
    consider_joined(best_.commands);
  }

  // Several new nodes in place of one are not among Karpenter's rules. They would be the next
  // decision, which moves again what the course has just moved.
  bool goes_on() {
    if (survey_.work().spent() > kMostWorkForOthers) {
      return false;
    }
    Survey end(best_.end, {}, {.memory = {}, .work = survey_.shared_work()});
    auto next = consolidate_one(end);
    if (!next) {
      return false;
    }
    auto rest = play(end, *std::move(next));
    if (!rest.ended) {
      return false;
    }
    Course longer{.commands = best_.commands,
                  .cost = rest.cost,
                  .evictions = best_.evictions + rest.evictions,
                  .end = std::move(rest.end),
                  .ended = true};
    std::move(rest.commands.begin(), rest.commands.end(), std::back_inserter(longer.commands));
    if (!ends_better(longer, best_)) {
      return false;
    }
    take(std::move(longer));
    return true;
  }

  // All of the course in one step; half of its steps if those are too many for one, and so on.
  void consider_joined(std::vector<Command> commands) {
    for (; commands.size() > 1 && !survey_.work().is_enough();
         commands.resize(commands.size() / 2)) {
      const auto joined = join(survey_, commands);
      if (joined.nodes.size() <= commands.front().claims.size()) {
        return;
      }
      auto result = consolidate_as_wanted(survey_, joined.nodes, joined.placements);
      if (!result.command) {
        continue;
      }
      auto course = play(survey_, *std::move(result.command));
      if (course.ended && !is_less(most_, course.cost) && ends_better(course, best_)) {
        best_ = std::move(course);
        return;
      }
    }
  }

  Survey& survey_;
  double most_ = 0;  // that the end may cost per hour
  std::vector<Command> tried_;
  Course best_;  // so far
};

}  // namespace

std::size_t most_work(const scheduling::Snapshot& snapshot) {
  return is_small(snapshot) ? 2 * kMostWork : kMostWork;
}

std::optional<Command> begin_best_course(Survey& survey, std::vector<Command> options) {
  if (options.empty()) {
    return std::nullopt;
  }
  if (is_too_large(*survey.input().snapshot)) {
    return std::move(options.front());
  }
  return LookAhead(survey).best_of(std::move(options));
}

}  // namespace millwright::disruption
