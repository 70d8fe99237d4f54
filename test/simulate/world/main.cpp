// simulate [--seeds N] [--first SEED] [--minutes M] [--json FILE] [--mutants] [--shrink SEED]
//          [--mutant NAME]
// scripts/simulate builds and runs it.
#include "millwright/base/mutant.hpp"
#include "simulate/world/mutants.hpp"
#include "simulate/world/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

void run_seeds(const Options& options, Totals& totals) {
  const auto begin = base::system_now();
  for (std::uint64_t seed = options.first;; ++seed) {
    totals.real = base::system_now() - begin;
    const bool enough = options.minutes ? totals.real.count() >= *options.minutes * 60
                                        : seed >= options.first + options.seeds;
    if (enough) {
      return;
    }
    const auto outcome = simulate(draw(seed));
    ++totals.seeds;
    totals.virtual_time += outcome.lasted;
    totals.violations += outcome.violations.size();
    for (const auto& violation : outcome.violations) {
      tell(seed, violation);
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
                 "[--shrink SEED] [--mutants [--mutant NAME]]\n";
    return 2;
  }
  return millwright::test::run(*options);
}
