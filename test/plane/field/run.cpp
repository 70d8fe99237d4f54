#include "plane/field/run.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/sandbox/recorder.hpp"
#include "plane/runner/watched.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <thread>

namespace millwright::field {
namespace {

namespace json = boost::json;
using plane::Plane;
using plane::text_at;

constexpr auto kPhaseLimit = std::chrono::minutes(25);
constexpr auto kPoolsLimit = std::chrono::seconds(30);
constexpr auto kPoll = std::chrono::seconds(1);

// Watches the cluster on a thread of its own.
class Observer {
 public:
  explicit Observer(const std::string& kubeconfig) {
    auto config = kube::load_kubeconfig(kubeconfig);
    client_ = std::make_unique<kube::Client>(
        loop_, std::shared_ptr<kube::Transport>(
                   kube::make_transport(loop_, *std::move(config), base::Logger(), "field")));
    auto cloud = cloud::SimulatedCloud::make(loop_, cloud::Profile::Kwok,
                                             cloud::default_settings(cloud::Profile::Kwok));
    types_ = *(*cloud)->instance_types({}, {});
    recorder_ = std::make_unique<sandbox::Recorder>(loop_, price());
    recorder_->on_change([this] { changed_ = loop_.now(); });
    watched_ = std::make_unique<plane::Watched>(*client_, *recorder_, base::Logger());
    changed_ = loop_.now();
    group_.spawn(watched_->run(group_.stop_token()));
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Observer() {
    loop_.stop();
    thread_.join();
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  PriceLookup price() const {
    return [this](const model::StringMap& labels) { return scheduling::price_of(types_, labels); };
  }
  // The answer of `question`, asked on the loop's thread.
  template <class Question>
  auto ask(Question question) {
    std::promise<decltype(question())> answer;
    loop_.post([&] { answer.set_value(question()); });
    return answer.get_future().get();
  }
  base::TimePoint now() const { return loop_.now(); }
  // When a pod, node or claim moved last: made, bound, deleted. Heartbeats do not count.
  base::TimePoint last_move() {
    return ask([this] { return newest(); });
  }
  bool has_waiting() {
    return ask([this] {
      for (const auto& [uid, pod] : recorder_->pods()) {
        if (!pod.gone && !pod.bound) {
          return true;
        }
      }
      for (const auto& [uid, claim] : recorder_->claims()) {
        if (!claim.gone && claim.deleting) {
          return true;
        }
      }
      return false;
    });
  }
  Figures figures(const Window& window) {
    return ask([&] { return figures_of(*recorder_, window, price()); });
  }

 private:
  base::TimePoint newest() const {
    base::TimePoint last{};
    const auto see = [&](const std::optional<base::TimePoint>& time) {
      last = std::max(last, time.value_or(last));
    };
    for (const auto& [uid, pod] : recorder_->pods()) {
      see(pod.created), see(pod.bound), see(pod.deleting), see(pod.gone);
    }
    for (const auto& [uid, claim] : recorder_->claims()) {
      see(claim.created), see(claim.deleting), see(claim.gone);
    }
    for (const auto& [uid, node] : recorder_->nodes()) {
      see(node.created), see(node.disrupted), see(node.deleting), see(node.gone);
    }
    return last;
  }

  base::RealLoop loop_;
  std::unique_ptr<kube::Client> client_;
  scheduling::InstanceTypes types_;
  std::unique_ptr<sandbox::Recorder> recorder_;
  std::unique_ptr<plane::Watched> watched_;
  base::TaskGroup group_{loop_};
  base::TimePoint changed_;
  std::thread thread_;
};

// User and system time of a process, and the most memory that it ever held.
struct Usage {
  double cpu_seconds = 0;
  double peak_rss_mib = 0;
};

Usage usage_of(pid_t process) {
  Usage usage;
  const std::string folder = fmt::format("/proc/{}/", process);
  const std::string stat = plane::read_text(folder + "stat");
  // After the name, which may hold spaces: field 3 on; utime and stime are fields 14 and 15.
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 2, stat.size())));
  std::string skipped;
  for (int i = 3; i < 14; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  usage.cpu_seconds = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::string status = plane::read_text(folder + "status");
  const auto peak = status.find("VmHWM:");
  if (peak != std::string::npos) {
    usage.peak_rss_mib = std::strtod(status.c_str() + peak + 6, nullptr) / 1'024;
  }
  return usage;
}

// What the API server's audit log has seen so far.
struct Calls {
  int requests = 0;  // of the controller
  int evicted = 0;   // pods, by anybody
};

Calls calls_in(const std::string& audit_log, const std::vector<std::string>& users) {
  Calls calls;
  std::set<std::string> evicted;
  std::ifstream lines(audit_log);
  for (std::string line; std::getline(lines, line);) {
    boost::system::error_code error;
    const auto entry = json::parse(line, error);
    if (error) {
      continue;  // the last line may be half written
    }
    const auto user = text_at(entry, "/user/username");
    calls.requests += std::find(users.begin(), users.end(), user) != users.end() ? 1 : 0;
    if (text_at(entry, "/objectRef/subresource") == "eviction") {
      const auto* code = entry.find_pointer("/responseStatus/code", error);
      if (code != nullptr && code->is_int64() && code->get_int64() == 201) {
        evicted.insert(text_at(entry, "/objectRef/name"));
      }
    }
  }
  calls.evicted = static_cast<int>(evicted.size());
  return calls;
}

std::string audit_rules(const std::vector<std::string>& users) {
  std::string rules =
      "- {level: Metadata, resources: [{group: \"\", resources: [pods/eviction]}]}\n";
  for (const auto& user : users) {
    rules += fmt::format("- {{level: Metadata, users: [\"{}\"]}}\n", user);
  }
  return rules;
}

std::string path_of(const json::value& object) {
  static const std::map<std::string, std::string> kPlurals{{"Deployment", "deployments"},
                                                           {"Job", "jobs"},
                                                           {"NodePool", "nodepools"},
                                                           {"KWOKNodeClass", "kwoknodeclasses"}};
  const auto space = text_at(object, "/metadata/namespace");
  return fmt::format("/apis/{}/{}{}/{}?fieldManager=field&force=true",
                     text_at(object, "/apiVersion"),
                     space.empty() ? "" : "namespaces/" + space + "/",
                     kPlurals.at(text_at(object, "/kind")), text_at(object, "/metadata/name"));
}

base::Result<> apply(Plane& plane, const std::string& yaml) {
  MW_TRY(objects, model::parse_yaml(yaml));
  for (const auto& object : objects) {
    const auto answer =
        plane.call("PATCH", path_of(object), object, "application/apply-patch+yaml");
    if (answer.status != 200 && answer.status != 201) {
      return base::fail(base::ErrorKind::Invalid,
                        fmt::format("{}: {}", path_of(object), json::serialize(answer.body)));
    }
  }
  return {};
}

class Playing {
 public:
  Playing(Plane& plane, Side& side) : plane_(plane), side_(side), observer_(plane.kubeconfig()) {}

  base::Result<Row> play(const Phase& phase) {
    const Usage before = usage_of(side_.process().pid());
    const Calls calls_before = calls();
    const auto begin = observer_.now();
    for (const auto& step : phase.steps) {
      std::this_thread::sleep_until(
          std::chrono::steady_clock::now() +
          std::max(base::Duration(0), begin +
                                          std::chrono::duration_cast<base::Duration>(
                                              std::chrono::duration<double>(step.at)) -
                                          observer_.now()));
      auto applied = apply(plane_, step.objects);
      if (!applied) {
        return tl::unexpected(applied.error());
      }
    }
    Row row{.phase = phase.name, .figures = {}};
    const auto settled = come_to_rest(begin, phase.name.empty() && phase.steps.size() == 1);
    row.figures = observer_.figures({.begin = begin, .settled = settled});
    const Usage after = usage_of(side_.process().pid());
    const Calls calls_after = calls();
    row.figures.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
    row.figures.peak_rss_mib = after.peak_rss_mib;
    row.figures.requests = calls_after.requests - calls_before.requests;
    row.figures.evicted = calls_after.evicted - calls_before.evicted;
    return row;
  }

 private:
  Calls calls() { return calls_in(plane_.directory() + "/audit.log", side_.users()); }

  // The last move before nothing moved for kQuiet and nothing waits; the limit's time otherwise.
  base::TimePoint come_to_rest(base::TimePoint begin, bool may_be_empty) {
    while (observer_.now() < begin + kPhaseLimit) {
      const auto moved = std::max(begin, observer_.last_move());
      const auto still = observer_.now() - moved;
      if (may_be_empty && moved == begin) {
        return begin;
      }
      if (still > kQuiet && (!observer_.has_waiting() || still > 3 * kQuiet)) {
        return moved;
      }
      std::this_thread::sleep_for(kPoll);
    }
    return observer_.now();
  }

  Plane& plane_;
  Side& side_;
  Observer observer_;
};

}  // namespace

base::Result<std::vector<Row>> play(const Scenario& scenario, std::unique_ptr<Side> given) {
  plane::PlaneOptions options;
  options.audit = true;
  options.audit_rules = audit_rules(given->users());
  MW_TRY(plane, Plane::start(std::move(options)));
  const std::unique_ptr<Side> side = std::move(given);  // ends before its plane
  auto done = plane->start_controller_manager(scenario.manager_qps);
  done = done ? plane->start_kwok() : done;
  done = done ? side->start(*plane) : done;
  done = done ? plane->start_scheduler(side->extenders()) : done;
  if (!done) {
    return tl::unexpected(done.error());
  }
  Playing playing(*plane, *side);
  std::vector<Row> rows;
  for (const auto& phase : scenario.phases) {
    MW_TRY(row, playing.play(phase));
    if (&phase == &scenario.phases.front()) {
      plane->kubectl({"wait", "--for=condition=Ready", "nodepool", "--all",
                      fmt::format("--timeout={}s", kPoolsLimit.count())});
    }
    if (!row.phase.empty()) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace millwright::field
