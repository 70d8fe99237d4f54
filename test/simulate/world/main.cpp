// simulate [--seeds N] [--first SEED] [--minutes M] [--json FILE] [--mutants] [--shrink SEED]
//          [--mutant NAME] [--jobs N]
// scripts/simulate builds and runs it.
#include "millwright/base/mutant.hpp"
#include "simulate/world/mutants.hpp"
#include "simulate/world/world.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace millwright::test {
namespace {

struct Options {
  std::uint64_t seeds = 200;
  std::uint64_t first = 1;
  std::optional<double> minutes;
  std::string json;
  bool mutants = false;
  std::optional<std::uint64_t> shrink;
  std::string mutant;
  std::uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
};

struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t violations = 0;
  std::chrono::duration<double> real{};
  base::Duration virtual_time{};
  std::string mutants;  // JSON
};

// nullopt: it is none, or too large.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// False: the word is no option, or the value none of its values.
bool take(std::string_view word, std::string_view value, Options& options) {
  if (word == "--json") {
    options.json = value;
    return true;
  }
  if (word == "--mutant") {
    options.mutant = value;
    return std::any_of(kMutants.begin(), kMutants.end(),
                       [&](const auto& known) { return known.second == value; });
  }
  if (word == "--minutes") {
    options.minutes = number<double>(value);
    return options.minutes.has_value();
  }
  const auto count = number<std::uint64_t>(value);
  if (word == "--shrink") {
    options.shrink = count;
  } else if (word == "--seeds") {
    options.seeds = count.value_or(0);
  } else if (word == "--first") {
    options.first = count.value_or(0);
  } else if (word == "--jobs") {
    options.jobs = std::max<std::uint64_t>(1, count.value_or(1));
  } else {
    return false;
  }
  return count.has_value();
}

std::optional<Options> parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--mutants") {
      options.mutants = true;
      continue;
    }
    if (i + 1 == count) {
      return std::nullopt;
    }
    if (!take(word, words[++i], options)) {
      return std::nullopt;
    }
  }
  return options;
}

void tell(std::uint64_t seed, const Violation& violation) {
  fmt::print("seed {}: {}: {}\n  repeat it: scripts/simulate --seeds 1 --first {}\n", seed,
             violation.check, violation.what, seed);
  std::fflush(stdout);
}

// What a worker says of a seed. Shorter than a pipe ever splits.
struct Ran {
  std::uint64_t worker = 0;
  std::uint64_t violations = 0;
  base::Duration lasted{};
};

// The seeds of one worker, in a process of its own: worlds share nothing, and one that ends its
// process does not end the others.
void work(const Options& options, std::uint64_t worker, int results) {
  const auto begin = base::system_now();
  for (std::uint64_t seed = options.first + worker;; seed += options.jobs) {
    const std::chrono::duration<double> real = base::system_now() - begin;
    const bool enough = options.minutes ? real.count() >= *options.minutes * 60
                                        : seed >= options.first + options.seeds;
    if (enough) {
      return;
    }
    const auto outcome = simulate(draw(seed));
    for (const auto& violation : outcome.violations) {
      tell(seed, violation);
    }
    const Ran ran{
        .worker = worker, .violations = outcome.violations.size(), .lasted = outcome.lasted};
    if (write(results, &ran, sizeof ran) != sizeof ran) {
      return;  // nobody counts any more
    }
  }
}

void show_progress(const Totals& totals) {
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r{} seeds, {:.2f} a second, {} violations ", totals.seeds,
               static_cast<double>(totals.seeds) / totals.real.count(), totals.violations);
  }
}

void run_seeds(const Options& options, Totals& totals) {
  std::array<int, 2> results{};
  if (pipe(results.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "simulate: no pipe for results");
  }
  const auto begin = base::system_now();
  std::vector<pid_t> workers;
  for (std::uint64_t worker = 0; worker < options.jobs; ++worker) {
    const pid_t child = fork();
    if (child < 0) {
      throw std::system_error(errno, std::generic_category(), "simulate: no process for seeds");
    }
    if (child == 0) {
      close(results[0]);
      work(options, worker, results[1]);
      std::fflush(nullptr);
      _exit(0);
    }
    workers.push_back(child);
  }
  close(results[1]);
  std::vector<std::uint64_t> done(workers.size());
  for (Ran ran; read(results[0], &ran, sizeof ran) == sizeof ran;) {
    ++done.at(ran.worker);
    ++totals.seeds;
    totals.violations += ran.violations;
    totals.virtual_time += ran.lasted;
    totals.real = base::system_now() - begin;
    show_progress(totals);
  }
  close(results[0]);
  for (std::uint64_t worker = 0; worker < workers.size(); ++worker) {
    int status = 0;
    waitpid(workers[worker], &status, 0);
    if (status != 0) {
      const auto seed = options.first + worker + done[worker] * options.jobs;
      ++totals.violations;
      tell(seed, {"the-process-lives", "the process of this seed ended"});
    }
  }
}

#ifdef MILLWRIGHT_MUTANTS
// What breaks a promise by itself does not count as found.
bool is_clean_without_mutant(const Schedule& schedule) {
  const auto mutant = std::exchange(base::planted_mutant, base::Mutant::None);
  const bool clean = simulate(schedule).violations.empty();
  base::planted_mutant = mutant;
  return clean;
}

void find_mutants(const Options& options, Totals& totals) {
  for (const auto& [mutant, name] : kMutants) {
    if (!options.mutant.empty() && name != options.mutant) {
      continue;
    }
    base::planted_mutant = mutant;
    std::uint64_t tried = 0;
    std::string check;
    while (check.empty() && tried < options.seeds) {
      const Schedule schedule = draw(options.first + tried++);
      const auto outcome = simulate(schedule);
      totals.virtual_time += outcome.lasted;
      if (!outcome.violations.empty() && is_clean_without_mutant(schedule)) {
        check = outcome.violations.front().check;
        fmt::print("{}: found after {} seeds: {}: {}\n", name, tried, check,
                   outcome.violations.front().what);
      }
    }
    base::planted_mutant = base::Mutant::None;
    if (check.empty()) {
      fmt::print("{}: NOT found in {} seeds\n", name, tried);
    }
    std::fflush(stdout);
    totals.mutants +=
        fmt::format(R"({}{{"name":"{}","found":{},"seeds":{},"check":"{}"}})",
                    totals.mutants.empty() ? "" : ",", name, !check.empty(), tried, check);
  }
}
#endif

int run(const Options& options) {
  if (options.shrink) {
    const Schedule schedule = draw(*options.shrink);
    const auto outcome = simulate(schedule);
    if (outcome.violations.empty()) {
      fmt::print("seed {} breaks nothing\n", *options.shrink);
      return 0;
    }
    const auto smallest = shrink(schedule, outcome.violations.front().check);
    tell(*options.shrink, simulate(smallest).violations.front());
    fmt::print("smallest schedule, {} of {} steps:\n{}", smallest.steps.size(),
               schedule.steps.size(), to_string(smallest));
    return 1;
  }
  Totals totals;
  if (options.mutants) {
#ifdef MILLWRIGHT_MUTANTS
    find_mutants(options, totals);
#else
    std::cerr << "simulate: built without mutants; scripts/simulate --mutants builds them\n";
    return 2;
#endif
  } else {
    run_seeds(options, totals);
  }
  const double hours = std::chrono::duration<double, std::ratio<3600>>(totals.virtual_time).count();
  const double rate =
      totals.real.count() > 0 ? static_cast<double>(totals.seeds) / totals.real.count() : 0;
  fmt::print("{} seeds, {:.2f} a second, {:.1f} virtual hours, {} violations\n", totals.seeds, rate,
             hours, totals.violations);
  if (!options.json.empty()) {
    std::ofstream(options.json)
        << fmt::format(
               R"({{"seeds":{},"seedsPerSecond":{:.3f},"virtualHours":{:.2f},"violations":{},"mutants":[{}]}})",
               totals.seeds, rate, hours, totals.violations, totals.mutants)
        << "\n";
  }
  return totals.violations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace millwright::test

int main(int count, char** words) {
  const auto options = millwright::test::parse(count, words);
  if (!options) {
    std::cerr << "usage: simulate [--seeds N] [--first SEED] [--minutes M] [--json FILE] "
                 "[--jobs N] [--shrink SEED] [--mutants [--mutant NAME]]\n";
    return 2;
  }
  return millwright::test::run(*options);
}
