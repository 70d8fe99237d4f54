#include "simulate/world/schedule.hpp"

#include "millwright/base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace millwright::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMostPods = 10;  // of a Deployment

// How an act's numbers are drawn.
struct Kind {
  const char* name;
  int least = 0;  // of the amount
  int most = 0;
  int most_lasts = 0;  // seconds; 0: it is over at once
};
constexpr std::array<Kind, kActs> kKinds = {{
    {"crash", 1, 400, 20},
    {"stop", 0, 0, 20},
    {"pause", 0, 0, 60},
    {"cut", 0, 0, 60},
    {"lose-requests", 0, 0, 45},
    {"lose-replies", 0, 0, 45},
    {"clog", 0, 0, 25},
    {"slow", 10, 1500, 90},
    {"storm", 10, 95, 40},
    {"late-commit", 5, 60, 60},
    {"gone-pages", 50, 100, 60},
    {"conflicts", 5, 60, 60},
    {"errors", 5, 60, 60},
    {"cut-watches", 1, 30, 90},
    {"late-watches", 100, 8000, 90},
    {"late-lists", 100, 20000, 120},
    {"slow-extender", 5, 1500, 90},
    {"cloud-errors", 10, 80, 90},
    {"cloud-throttles", 10, 80, 90},
    {"cloud-loses-replies", 10, 80, 90},
    {"no-capacity", 10, 80, 90},
    {"slow-cloud", 1, 60, 120},
    {"interrupt", 0, 0, 0},
    {"lose-machine", 0, 0, 0},
    {"deploy", 1, 8, 0},
    {"scale", 0, kMostPods, 0},
    {"rollout", 0, 0, 0},
    {"withdraw", 0, 0, 0},
    {"edit-pool", 0, 0, 0},
    {"protect", 0, 0, 0},
    {"keep-pod", 0, 0, 120},
    {"delete-pod", 0, 0, 0},
    {"delete-claim", 0, 0, 0},
}};

int between(base::Random& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least) + 1));
}

base::Duration up_to(base::Random& random, base::Duration most) {
  const auto whole = std::chrono::duration_cast<milliseconds>(most).count();
  return milliseconds(random.below(static_cast<std::uint64_t>(whole) + 1));
}

Step draw_step(base::Random& random, Act act) {
  const Kind& kind = kKinds.at(static_cast<std::size_t>(act));
  Step step;
  step.act = act;
  step.at = up_to(random, kTrouble - seconds(30));
  step.which = between(random, 0, 99);
  step.amount = between(random, kind.least, kind.most);
  if (kind.most_lasts > 0) {
    const base::Duration lasts = seconds(1) + up_to(random, seconds(kind.most_lasts - 1));
    step.lasts = std::min<base::Duration>(lasts, kTrouble - step.at);
  }
  return step;
}

// That all Deployments could ask for together.
int most_cpus(const std::vector<Step>& steps) {
  int milli = 0;
  for (const Step& step : steps) {
    milli += step.act == Act::Deploy ? kMostPods * milli_cpus(step) : 0;
  }
  return milli / 1000;
}

// What people and the cloud do happens while something else is wrong.
void meet_trouble(std::vector<Step>& steps, base::Random& random) {
  std::vector<Step> troubles;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(troubles), [](const Step& step) {
    return step.act < Act::Interrupt && step.lasts > base::Duration::zero();
  });
  if (troubles.empty()) {
    return;
  }
  for (Step& step : steps) {
    const bool moves = step.act >= Act::Interrupt && step.act != Act::Deploy &&
                       step.lasts == base::Duration::zero();
    if (moves) {
      const Step& trouble = troubles.at(random.below(troubles.size()));
      step.at = trouble.at + up_to(random, trouble.lasts);
    }
  }
}

std::string in_seconds(base::Duration duration) {
  return fmt::format("{:.3f}s", std::chrono::duration<double>(duration).count());
}

}  // namespace

int milli_cpus(const Step& deploy) {
  return 500 * (1 + deploy.which % 6);
}

std::string to_string(Act act) {
  return kKinds.at(static_cast<std::size_t>(act)).name;
}

std::string to_string(const Step& step) {
  std::string text = fmt::format("at {} {} which={} amount={}", in_seconds(step.at),
                                 to_string(step.act), step.which, step.amount);
  return step.lasts > base::Duration::zero() ? text + " for " + in_seconds(step.lasts) : text;
}

std::string to_string(const Schedule& schedule) {
  std::string text = fmt::format(
      "seed {}: {} replicas, plans take up to {}, bindings {}, {} pods/s, launch {}, boot {}, "
      "consolidateAfter {}, budget {}, limit {} CPUs\n",
      schedule.seed, schedule.replicas, in_seconds(schedule.solve_time),
      in_seconds(schedule.bind_latency), schedule.pods_per_second, in_seconds(schedule.launch),
      in_seconds(schedule.boot), in_seconds(schedule.consolidate_after), schedule.budget,
      schedule.limit_cpus);
  for (const Step& step : schedule.steps) {
    text += "  " + to_string(step) + "\n";
  }
  return text;
}

// Most seeds know few kinds of trouble, and much of them: all kinds at once would hide each other.
Schedule draw(std::uint64_t seed) {
  base::Random random(seed * 7919 + 17);
  Schedule schedule;
  schedule.seed = seed;
  schedule.replicas = between(random, 1, 3);
  schedule.solve_time = up_to(random, random.below(2) == 0 ? milliseconds(20) : milliseconds(3000));
  schedule.bind_latency = up_to(random, milliseconds(random.below(2) == 0 ? 10 : 2000));
  schedule.pods_per_second = between(random, 1, 40);
  schedule.launch = up_to(random, seconds(10));
  schedule.boot = seconds(1) + up_to(random, seconds(30));
  schedule.consolidate_after = seconds(between(random, 0, 30));
  schedule.budget = between(random, 1, 4);
  schedule.limit_cpus = between(random, 40, 120);
  const auto deployments = between(random, 1, 2);
  for (int i = 0; i < deployments; ++i) {
    Step step = draw_step(random, Act::Deploy);
    step.at = up_to(random, seconds(20));
    schedule.steps.push_back(step);
  }
  constexpr int kFirstOfPeople = static_cast<int>(Act::Deploy);
  const auto add = [&](int first, int last, int kinds, int most_each) {
    for (int i = 0; i < kinds; ++i) {
      const auto act = static_cast<Act>(between(random, first, last));
      const auto count = between(random, 1, most_each);
      std::generate_n(std::back_inserter(schedule.steps), count,
                      [&] { return draw_step(random, act); });
    }
  };
  add(0, kFirstOfPeople - 1, between(random, 0, 4), 4);
  add(kFirstOfPeople, kActs - 1, between(random, 1, 3), 4);
  if (random.below(2) == 0) {
    meet_trouble(schedule.steps, random);
  }
  schedule.limit_cpus = std::max(schedule.limit_cpus, most_cpus(schedule.steps) * 3 / 2 + 16);
  std::stable_sort(schedule.steps.begin(), schedule.steps.end(),
                   [](const Step& a, const Step& b) { return a.at < b.at; });
  return schedule;
}

}  // namespace millwright::test
