#include "corners.hpp"

#include "checker/files/scenario.hpp"
#include "corner_worlds.hpp"
#include "peer/runner/peer.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

namespace json = boost::json;

constexpr int kMaxSeconds = 300;
// The peer reads its file first, and that counts when it is stopped.
constexpr int kReadingSeconds = 30;
constexpr std::int64_t kPeerMiB = 8192;
// How long either side is repeated when a single run is shorter.
constexpr double kSeconds = 0.25;

// What one side made of a corner.
struct Side {
  bool is_stopped = false;           // it used up its time
  bool is_failed = false;            // it ended without a plan for another reason
  double seconds = kMaxSeconds;      // the median
  double cpu_seconds = kMaxSeconds;  // the same, of all threads
  double peak_mib = 0;               // up to the end of the first plan; the peer's: of all its runs
  std::size_t claims = 0;
  std::size_t refused = 0;
  double price = 0;

  void take(const Plan& plan) {
    claims = plan.claims.size();
    refused = plan.refusals.size();
    price = peer::total_price(plan);
  }
};
static_assert(std::is_trivially_copyable_v<Side>);

double cpu_seconds(int whose = RUSAGE_SELF) {
  rusage usage{};
  getrusage(whose, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double peak_mib(int whose) {
  rusage usage{};
  getrusage(whose, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// What `work` comes to in a process of its own; nothing if that ends before. `status` is how it
// ended, as waitpid() says.
std::optional<Side> apart(const std::function<std::optional<Side>()>& work, int* status = nullptr) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return std::nullopt;
  }
  const pid_t child = fork();
  if (child == 0) {
    const auto side = work();
    _exit(side && write(ends[1], &*side, sizeof(Side)) == sizeof(Side) ? 0 : 1);
  }
  close(ends[1]);
  Side side;
  const bool is_known = child > 0 && read(ends[0], &side, sizeof(side)) == sizeof(side);
  close(ends[0]);
  if (child > 0) {
    waitpid(child, status, 0);
  }
  return is_known ? std::optional(side) : std::nullopt;
}

Side plan(const Corner& corner) {
  const Problem problem = corner.make();
  Side side;
  std::vector<double> seconds;
  std::vector<double> cpu;
  for (double sum = 0; sum < kSeconds; sum += seconds.back()) {
    const double cpu_before = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    const Plan made = solve(problem);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    cpu.push_back(cpu_seconds() - cpu_before);
    if (seconds.size() == 1) {
      side.peak_mib = peak_mib(RUSAGE_SELF);
      side.take(made);
    }
  }
  side.seconds = median(seconds);
  side.cpu_seconds = median(cpu);
  return side;
}

// The kernel ends the process when it has used up its time.
Side ours(const Corner& corner) {
  int status = 0;
  const auto side = apart(
      [&] {
        const rlimit limit{kMaxSeconds, kMaxSeconds + 1};
        setrlimit(RLIMIT_CPU, &limit);
        return std::optional(plan(corner));
      },
      &status);
  if (side) {
    return *side;
  }
  const bool is_stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  return Side{.is_stopped = is_stopped, .is_failed = !is_stopped};
}

Side peers(const CornerOptions& options, const Corner& corner, const std::string& file) {
  const auto told = apart([&]() -> std::optional<Side> {
    auto answer = peer::run_peer(options.peer, {file},
                                 {.seconds = kSeconds,
                                  .cpu_seconds = kMaxSeconds + kReadingSeconds,
                                  .memory_mib = kPeerMiB});
    Side side{.peak_mib = peak_mib(RUSAGE_CHILDREN)};
    if (!answer) {
      std::fprintf(stderr, "corners: %s\n", answer.error().message.c_str());
      // The kernel kills for want of memory, too.
      side.is_stopped = answer.error().kind == base::ErrorKind::Timeout &&
                        cpu_seconds(RUSAGE_CHILDREN) >= kMaxSeconds;
      side.is_failed = !side.is_stopped;
      return side;
    }
    side.seconds = answer->front().solve_seconds;
    side.cpu_seconds = answer->front().solve_cpu_seconds;
    peer::price_claims(corner.make(), answer->front().plan);
    side.take(answer->front().plan);
    return side;
  });
  return told.value_or(Side{.is_failed = true});
}

// In a process of its own too: what the problem takes would count as the next one's.
bool write_file(const Corner& corner, const std::string& file) {
  const auto written = apart([&]() -> std::optional<Side> {
    std::ofstream out(file);
    out << checker::write_scenario(corner.make(), corner.name);
    return out.flush() ? std::optional(Side{}) : std::nullopt;
  });
  return written.has_value();
}

void print(const Side& side) {
  if (side.is_failed) {
    std::printf("   %57s", "failed");
  } else if (side.is_stopped) {
    std::printf("   > %7.3f s %6.0f MiB %32s", side.cpu_seconds, side.peak_mib, "stopped");
  } else {
    std::printf("   %9.3f s %6.0f MiB %6zu %9.2f $/h %6zu ref", side.cpu_seconds, side.peak_mib,
                side.claims, side.price, side.refused);
  }
}

void add(json::object& row, const std::string& whose, const Side& side) {
  row[whose + "_failed"] = side.is_failed;
  if (side.is_failed) {
    return;
  }
  row[whose + "_pods_per_second"] = row["pods"].to_number<double>() / side.seconds;
  row[whose + "_cpu_seconds"] = side.cpu_seconds;
  row[whose + "_stopped"] = side.is_stopped;
  row[whose + "_peak_mib"] = side.peak_mib;
  if (!side.is_stopped) {
    row["claims_" + whose] = side.claims;
    row[whose] = side.price;
    row["refused_" + whose] = side.refused;
  }
}

base::Result<json::object> row_of(const CornerOptions& options, const Corner& corner) {
  const std::string file =
      options.folder + "/" + corner.name + "-" + std::to_string(corner.pods) + ".jsonl";
  if (!write_file(corner, file)) {
    return base::fail(base::ErrorKind::Internal, "corners: " + file + " cannot be written");
  }
  std::printf("%-22s %7zu", corner.name, corner.pods);
  const Side here = ours(corner);
  print(here);
  std::fflush(stdout);
  const Side there = peers(options, corner, file);
  print(there);
  json::object row{{"case", corner.name}, {"pods", corner.pods}};
  if (here.is_failed || there.is_failed) {
    std::printf("\n");
  } else {
    // By CPU time: one of them may have been stopped, and others may be using the cores.
    row["ratio"] = there.cpu_seconds / here.cpu_seconds;
    std::printf("   %8.0f\n", there.cpu_seconds / here.cpu_seconds);
  }
  std::fflush(stdout);
  add(row, "ours", here);
  add(row, "peer", there);
  return row;
}

}  // namespace

base::Result<json::array> corners(const CornerOptions& options) {
  std::printf("%-22s %7s   %-57s   %-57s   %8s\n", "corner, CPU time", "pods", "ours", "peer",
              "ratio");
  std::fflush(stdout);
  json::array rows;
  for (const Corner& corner : all_corners()) {
    if (corner.pods > options.most_pods || (!options.only.empty() && options.only != corner.name)) {
      continue;
    }
    auto row = row_of(options, corner);
    if (!row) {
      return tl::unexpected(row.error());
    }
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace millwright::scheduling::bench
