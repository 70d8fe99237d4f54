#include "simulate/world/schedule.hpp"

#include "millwright/base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace millwright::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kMostPods = 10;  // of a Deployment
// The `which` of a Deployment whose pods need a machine each.
constexpr int kWholeMachine = 7;

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
    {"trickle", 1, kMostPods, 120},
    {"force-claim", 0, 0, 0},
    {"lagging-cloud", 1, 240, 120},
    {"jump-clock", -20, 20, 0},
    {"restore", 5, 120, 40},
    {"expire-token", 0, 0, 60},
    {"change-ca", 0, 0, 60},
    {"forbid", 0, 2, 60},
    {"webhooks-fail", 0, 0, 60},
    {"change-scheduler", 0, 0, 20},
    {"hostile-calls", 0, 0, 60},
    {"late-nodes", 20, 200, 60},
    {"poor-nodes", 0, 90, 90},
    {"lying-nodes", 0, 1, 60},
    {"flap-node", 0, 0, 90},
    {"strip-node", 0, 0, 60},
    {"twin-node", 0, 0, 90},
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

int machine_cpus(Cloud cloud) {
  return cloud == Cloud::Kwok ? 16 : 4;
}

// Of the machines for all that Deployments could ask for.
int most_cpus(const Schedule& schedule) {
  // The others sell small machines only, which three CPUs fill badly.
  const int halves = schedule.cloud == Cloud::Kwok ? 3 : 4;
  int milli = 0;
  for (const Step& step : schedule.steps) {
    if (step.act == Act::Deploy) {
      const int alone = step.which % 8 == kWholeMachine ? 1000 * machine_cpus(schedule.cloud) : 0;
      milli += kMostPods * std::max(alone, milli_cpus(schedule.cloud, step) * halves / 2);
    }
  }
  return milli / 1000 + 16;
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

// Troubles that do harm only together, in a world of their kind, or at a certain moment.
class Plot {
 public:
  Plot(Schedule& schedule, base::Random& random)
      : schedule_(schedule),
        random_(random),
        at_(seconds(60) + up_to(random, seconds(80))),
        lasts_(seconds(60) + up_to(random, seconds(60))) {}

  // Claims that are made, and that nobody hears of. Each pod needs a machine of its own.
  void lose_claims() {
    add(Act::LateCommit, at_, lasts_, between(random_, 35, 65));
    add(Act::LateWatches, at_, lasts_, 8000);
    for (int i = 0; i < 3; ++i) {
      add(Act::Deploy, somewhen(), {}, 1).which = kWholeMachine;
    }
  }
  // While nodes drain, everybody starts anew, and learns one kind long after another.
  void restart_in_drain() {
    schedule_.ready = seconds(between(random_, 10, 40));
    add(Act::Deploy, {}, {}, 6).which = 3;
    add(Act::LateLists, at_, lasts_, 20'000);
    add(Act::Protect, at_, {}, 0);
    add(Act::DeleteClaim, at_ + seconds(1), {}, 0);
    add(Act::DeleteClaim, at_ + seconds(2), {}, 0);
    for (int replica = 0; replica < schedule_.replicas; ++replica) {
      add(Act::Stop, at_ + seconds(4), seconds(1), 0).which = replica;
    }
  }
  // Nodes register while garbage collection waits for the cloud's list.
  void list_slowly() {
    schedule_.ready = seconds(between(random_, 10, 40));
    schedule_.boot = seconds(between(random_, 1, 10));
    add(Act::SlowCloud, seconds(95), seconds(120), 60);
    for (int i = 0; i < 5; ++i) {
      const base::Duration at = seconds(100) + up_to(random_, seconds(30));
      const int pods = between(random_, 2, 4);
      add(Act::Deploy, at, {}, pods).which = draw_which();
    }
  }
  // Pods are kept for a machine that will not come, while others leave room behind. Then nothing
  // happens that kube-scheduler could see.
  void promise_in_vain() {
    std::erase_if(schedule_.steps, [](const Step& step) { return step.act < Act::CloudErrors; });
    schedule_.launch = seconds(between(random_, 20, 40));
    schedule_.consolidate_after = seconds(300);
    add(Act::Deploy, seconds(1), {}, 6).which = 3;
    add(Act::NoCapacity, at_, seconds(60), 100);
    add(Act::Deploy, at_ + seconds(2), {}, 3).which = 4;
    add(Act::Scale, at_ + seconds(6), {}, 0).which = 0;
  }
  // Nodes drift one after the other, and the NodePool has room for one more only, while the API
  // server is slow.
  void replace_at_the_limit() {
    const int machines = between(random_, 4, 8);
    std::erase_if(schedule_.steps, [](const Step& step) { return step.act >= Act::Deploy; });
    schedule_.budget = 4;
    schedule_.machines_limit = machines + 1;
    add(Act::Deploy, seconds(1), {}, machines).which = kWholeMachine;
    add(Act::Slow, seconds(80), seconds(120), between(random_, 300, 1500)).which = draw_which();
    add(Act::EditPool, seconds(90), {}, 0);
  }
  // Machines are taken back while hardly a request comes through.
  void interrupt_in_errors() {
    add(Act::Deploy, seconds(1), {}, 6).which = 3;
    add(Act::Errors, at_, seconds(40), 85);
    for (int i = 0; i < 3; ++i) {
      add(Act::Interrupt, at_ + seconds(5 * i), {}, 0).which = draw_which();
    }
  }
  // What happens to machines and NodeClaims before anybody has heard of the last write to them:
  // that of their launch, or of the registration of their Nodes. A leader lasts ten seconds so.
  void act_on_the_unheard_of() {
    schedule_.launch = seconds(between(random_, 1, 4));
    schedule_.boot = seconds(between(random_, 2, 10));
    schedule_.ready = milliseconds(500);
    schedule_.bind_latency = milliseconds(10);
    add(Act::Deploy, at_, {}, 4).which = kWholeMachine;
    const base::Duration launched = at_ + schedule_.launch;
    const bool registers = random_.below(2) == 0;
    const base::Duration begin =
        registers ? launched + schedule_.boot - milliseconds(500) : at_ + milliseconds(500);
    add(Act::LateCommit, begin, seconds(30), 100);
    add(Act::LateWatches, begin, seconds(30), 8000);
    for (int i = 0; i < 3; ++i) {
      const base::Duration at = std::max(begin, launched) + seconds(2) + up_to(random_, seconds(7));
      add(registers ? Act::DeleteClaim : Act::Interrupt, at, {}, 0).which = draw_which();
    }
  }
  // Nodes are replaced while pods come that would fit on their replacements. Nothing goes wrong.
  void replace_among_newcomers() {
    schedule_.steps.clear();
    schedule_.launch = seconds(between(random_, 5, 10));
    schedule_.boot = seconds(between(random_, 20, 30));
    schedule_.bind_latency = milliseconds(between(random_, 10, 1000));
    schedule_.consolidate_after = seconds(300);
    add(Act::Deploy, seconds(1), {}, between(random_, 2, 5)).which = kWholeMachine;
    add(Act::EditPool, at_, {}, 0);
    for (int i = 1; i <= 6; ++i) {
      add(Act::Deploy, at_ + seconds(8 * i), {}, 1).which = kWholeMachine;
    }
  }
  // Pods come and go all the time, and so do nodes, and perhaps leaders.
  void flow() {
    schedule_.bind_latency = milliseconds(between(random_, 2000, 5000));
    schedule_.solve_time = milliseconds(between(random_, 10, 3000));
    schedule_.consolidate_after = seconds(between(random_, 0, 2));
    schedule_.pods_per_second = 40;
    schedule_.budget = 3;
    add(Act::Deploy, seconds(1), {}, 6).which = kWholeMachine;
    add(Act::Deploy, seconds(2), {}, 4).which = draw_which();
    const auto lasts = seconds(schedule_.small ? 60 : 120);
    add(Act::Trickle, seconds(40), lasts, 8).which = 0;
    add(Act::Trickle, seconds(60), lasts, 8).which = 1;
    for (int changes = random_.below(2) == 0 ? 0 : 12; changes > 0; --changes) {
      add(Act::Stop, seconds(40 + 9 * changes), seconds(1), 0).which = draw_which();
    }
  }
  // Empty nodes drift just as a leader ends, while pods that it has let through are on their way
  // to them.
  void hand_over() {
    std::erase_if(schedule_.steps, [](const Step& step) { return step.act >= Act::Deploy; });
    schedule_.bind_latency = milliseconds(between(random_, 5000, 9000));
    schedule_.solve_time = milliseconds(between(random_, 10, 500));
    schedule_.consolidate_after = seconds(300);
    schedule_.pods_per_second = 40;
    schedule_.budget = 4;
    const int machines = between(random_, 3, 6);
    add(Act::Deploy, seconds(1), {}, machines).which = kWholeMachine;
    add(Act::Deploy, seconds(2), {}, 1).which = 0;
    add(Act::Scale, at_, {}, 0).which = 0;
    const base::Duration end = at_ + seconds(15);
    add(Act::Scale, end - up_to(random_, seconds(3)), {}, 1 + machines).which = 1;
    for (int replica = 0; replica < schedule_.replicas; ++replica) {
      add(Act::Stop, end, seconds(1), 0).which = replica;
    }
    add(Act::EditPool, end + up_to(random_, seconds(2)), {}, 0);
  }

 private:
  Step& add(Act act, base::Duration at, base::Duration lasts, int amount) {
    return schedule_.steps.emplace_back(
        Step{.at = at, .act = act, .which = 0, .amount = amount, .lasts = lasts});
  }
  base::Duration somewhen() { return at_ + up_to(random_, lasts_); }
  int draw_which() { return between(random_, 0, 99); }

  Schedule& schedule_;
  base::Random& random_;
  base::Duration at_;
  base::Duration lasts_;
};

void add_plot(Schedule& schedule, base::Random& random) {
  Plot plot(schedule, random);
  switch (random.below(10)) {
    case 0:
      return plot.lose_claims();
    case 1:
      return plot.restart_in_drain();
    case 2:
      return plot.list_slowly();
    case 3:
      return plot.promise_in_vain();
    case 4:
      return plot.replace_at_the_limit();
    case 5:
      return plot.interrupt_in_errors();
    case 6:
      return plot.act_on_the_unheard_of();
    case 7:
      return plot.replace_among_newcomers();
    case 8:
      return plot.hand_over();
    default:
      return plot.flow();
  }
}

// Half as many pods, one at least where there was one.
void make_smaller(Step& step) {
  if (step.act == Act::Deploy || step.act == Act::Scale || step.act == Act::Trickle) {
    step.amount = (step.amount + 1) / 2;
  }
}

// Half of the worlds have machines whose clocks differ, as much as a process puts up with, and a
// few of these much more.
void draw_clocks(Schedule& schedule, base::Random& random) {
  if (random.below(2) == 0) {
    return;
  }
  schedule.clocks_are_wild = random.below(6) == 0;
  const int most = schedule.clocks_are_wild ? 120'000 : 5'000;
  for (int machine = 0; machine < schedule.replicas; ++machine) {
    schedule.clocks.push_back(milliseconds(between(random, -most, most)));
  }
  for (auto jumps = random.below(3); jumps > 0; --jumps) {
    schedule.steps.push_back(draw_step(random, Act::JumpClock));
  }
}

// The servers are stopped, longer than a term lasts, and only then is etcd what it was.
void draw_restore(Schedule& schedule, base::Random& random) {
  Step step = draw_step(random, Act::Restore);
  step.at = seconds(30) + up_to(random, seconds(210));
  step.lasts = seconds(15) + up_to(random, seconds(25));
  schedule.steps.push_back(step);
}

// Kinds that came later, so many of each.
void draw_more(Schedule& schedule, base::Random& random) {
  for (auto kinds = 1 + random.below(2); kinds > 0; --kinds) {
    const auto act = static_cast<Act>(
        between(random, static_cast<int>(Act::ExpireToken), static_cast<int>(Act::TwinNode)));
    if (act == Act::LateNodes) {
      schedule.registration_limit = minutes(between(random, 2, 15));
    }
    std::generate_n(std::back_inserter(schedule.steps), between(random, 1, 3),
                    [&] { return draw_step(random, act); });
  }
}

// Half of the worlds are kwok's, which are the quickest.
Cloud cloud_of(std::uint64_t seed) {
  switch (seed % 8) {
    case 2:
    case 5:
      return Cloud::Aws;
    case 4:
      return Cloud::Alibaba;
    case 7:
      return Cloud::Huawei;
    default:
      return Cloud::Kwok;
  }
}

std::string in_seconds(base::Duration duration) {
  return fmt::format("{:.3f}s", std::chrono::duration<double>(duration).count());
}

}  // namespace

std::string to_string(Cloud cloud) {
  constexpr std::array kNames = {"kwok", "aws", "alibaba", "huawei"};
  return kNames.at(static_cast<std::size_t>(cloud));
}

// The largest machines of Alibaba Cloud and Huawei Cloud here have four CPUs.
int milli_cpus(Cloud cloud, const Step& deploy) {
  const int whole_machine = cloud == Cloud::Kwok ? 9000 : 3000;
  return deploy.which % 8 == kWholeMachine ? whole_machine : 500 * (1 + deploy.which % 6);
}

base::Duration backup_age(const Step& restore) {
  return std::max<base::Duration>(restore.at - seconds(restore.amount), seconds(1));
}

bool disturbs_replicas(Act act) {
  return act < Act::CloudErrors || (act >= Act::Restore && act <= Act::ChangeScheduler);
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
      "seed {}: {}, {} replicas, plans take up to {}, bindings {}, {} pods/s, launch {}, boot {}, "
      "ready {}, consolidateAfter {}, budget {}, limit {} CPUs\n",
      schedule.seed, to_string(schedule.cloud), schedule.replicas, in_seconds(schedule.solve_time),
      in_seconds(schedule.bind_latency), schedule.pods_per_second, in_seconds(schedule.launch),
      in_seconds(schedule.boot), in_seconds(schedule.ready), in_seconds(schedule.consolidate_after),
      schedule.budget, schedule.limit_cpus);
  for (std::size_t machine = 0; machine < schedule.clocks.size(); ++machine) {
    text += fmt::format("  clock of machine {} is ahead by {}{}\n", machine,
                        in_seconds(schedule.clocks[machine]),
                        schedule.clocks_are_wild ? ", wildly" : "");
  }
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
  schedule.cloud = cloud_of(seed);
  schedule.small = seed % 5 != 0;
  schedule.replicas = between(random, 1, schedule.small ? 2 : 3);
  schedule.solve_time = up_to(random, random.below(2) == 0 ? milliseconds(20) : milliseconds(3000));
  // An attempt of kube-scheduler is over ten seconds after it was let through.
  constexpr std::array<milliseconds, 3> kBindLatencies = {milliseconds(10), milliseconds(2000),
                                                          milliseconds(5000)};
  schedule.bind_latency = up_to(random, kBindLatencies.at(random.below(kBindLatencies.size())));
  schedule.pods_per_second = between(random, 1, 40);
  schedule.launch = up_to(random, seconds(10));
  schedule.boot = seconds(1) + up_to(random, seconds(30));
  schedule.ready = milliseconds(500) + up_to(random, seconds(random.below(2) == 0 ? 5 : 40));
  schedule.consolidate_after = seconds(between(random, 0, 30));
  schedule.budget = between(random, 1, 4);
  schedule.limit_cpus = between(random, 40, 120);
  const auto deployments = schedule.small ? 1 : between(random, 1, 2);
  for (int i = 0; i < deployments; ++i) {
    Step step = draw_step(random, Act::Deploy);
    step.at = up_to(random, seconds(20));
    schedule.steps.push_back(step);
  }
  constexpr int kFirstOfPeople = static_cast<int>(Act::Deploy);
  constexpr int kLastOfPeople = static_cast<int>(Act::ForceClaim);
  const auto add = [&](int first, int last, int kinds, int most_each) {
    for (int i = 0; i < kinds; ++i) {
      const auto act = static_cast<Act>(between(random, first, last));
      const auto count = between(random, 1, most_each);
      std::generate_n(std::back_inserter(schedule.steps), count,
                      [&] { return draw_step(random, act); });
    }
  };
  const int most = schedule.small ? 2 : 4;  // of each kind, and kinds of trouble
  add(0, kFirstOfPeople - 1, between(random, 0, most), most);
  add(kFirstOfPeople, kLastOfPeople, between(random, 1, schedule.small ? 2 : 3), most);
  if (schedule.cloud != Cloud::Kwok && random.below(2) == 0) {
    schedule.steps.push_back(draw_step(random, Act::LaggingCloud));
  }
  if (random.below(2) == 0) {
    meet_trouble(schedule.steps, random);
  }
  if (schedule.small) {
    std::for_each(schedule.steps.begin(), schedule.steps.end(), make_smaller);
  }
  const bool has_plot = random.below(2) == 0;
  if (has_plot) {
    add_plot(schedule, random);
  }
  // Drawn apart, so that they do not change what else a seed draws.
  base::Random apart(seed * 104'729 + 71);
  draw_clocks(schedule, apart);
  if (!has_plot && apart.below(4) == 0) {
    draw_restore(schedule, apart);
  }
  if (!has_plot && apart.below(2) == 0) {
    draw_more(schedule, apart);
  }
  schedule.limit_cpus = std::max(schedule.limit_cpus, most_cpus(schedule));
  if (schedule.machines_limit > 0) {
    schedule.limit_cpus = schedule.machines_limit * machine_cpus(schedule.cloud);
  }
  std::stable_sort(schedule.steps.begin(), schedule.steps.end(),
                   [](const Step& a, const Step& b) { return a.at < b.at; });
  return schedule;
}

}  // namespace millwright::test
