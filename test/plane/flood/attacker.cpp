#include "plane/flood/attacker.hpp"

#include "plane/flood/line.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace millwright::plane {
namespace {

namespace json = boost::json;

constexpr std::size_t kMiB = 1U << 20;
constexpr std::size_t kLargeBytesPerSecond = 8 * kMiB;  // of one lane
constexpr std::size_t kDeepest = kMiB;
constexpr int kMostPolite = 19;

struct Pace {
  std::size_t per_second = 1;
  std::size_t held = 0;  // connections that are kept; the oldest one goes first
};

Pace pace_of(Assault assault, const Victim& victim) {
  switch (assault) {
    case Assault::HalfOpen:
      return {.per_second = 100, .held = 200};
    case Assault::SlowBodies:
      return {.per_second = 10, .held = 64};
    case Assault::LargestBodies:
      return {
          .per_second = std::clamp<std::size_t>(kLargeBytesPerSecond / victim.body_limit, 1, 20),
          .held = 0};
    case Assault::NestedJson:
      return {.per_second = 5, .held = 0};
    case Assault::ManyConnections:
      return {.per_second = 100, .held = 300};
    case Assault::MadeUpPods:
      return {.per_second = 100, .held = 0};
  }
  return {};
}

std::string head_for(const Victim& victim, std::size_t body) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: flood\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n",
      victim.path, body);
}

std::string request_for(const Victim& victim, const std::string& body) {
  return head_for(victim, body.size()) + body;
}

// Valid JSON of this size: as many candidates as fit, each of the fewest bytes.
std::string crowded_body(std::size_t size) {
  std::string text =
      R"({"Pod":{"metadata":{"name":"flood","namespace":"default","uid":"flood"}},"NodeNames":["")";
  while (text.size() + 5 < size) {
    text += R"(,"")";
  }
  text += "]}";
  text.resize(size, ' ');
  return text;
}

// No two are alike, in name or in what they ask for, and every other one says that it is a
// DaemonSet's.
std::string made_up_body(std::size_t lane, std::size_t number, const json::array& nodes) {
  const std::string name = fmt::format("made-up-{}-{}", lane, number);
  json::object meta{{"name", name}, {"namespace", "default"}, {"uid", name}};
  if (number % 2 == 1) {
    meta["ownerReferences"] = json::array{json::object{{"apiVersion", "apps/v1"},
                                                       {"kind", "DaemonSet"},
                                                       {"name", "made-up"},
                                                       {"uid", "made-up"},
                                                       {"controller", true}}};
  }
  const json::object container{
      {"name", "c"}, {"resources", {{"requests", {{"cpu", fmt::format("{}m", number + 1)}}}}}};
  return json::serialize(json::object{
      {"Pod", json::object{{"metadata", std::move(meta)},
                           {"spec", json::object{{"containers", json::array{container}}}}}},
      {"Nodes", nullptr},
      {"NodeNames", nodes}});
}

// One assault on one port, from one address.
class Lane {
 public:
  Lane(std::size_t number, Victim victim, Assault assault, std::optional<CallerTls> tls,
       json::array nodes)
      : number_(number),
        victim_(std::move(victim)),
        assault_(assault),
        tls_(std::move(tls)),
        nodes_(std::move(nodes)),
        from_(fmt::format("127.0.2.{}", number + 1)),
        pace_(pace_of(assault, victim_)) {
    prepare();
  }

  void run(std::stop_token stop) {
    yield_to_everybody();
    const auto beat = std::chrono::nanoseconds(std::chrono::seconds(1)) /
                      static_cast<std::int64_t>(pace_.per_second);
    auto due = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      strike();
      // One that is late does not make up for it with a burst.
      due = std::max(due + beat, std::chrono::steady_clock::now());
      std::unique_lock lock(mutex);
      never.wait_until(lock, stop, due, [] { return false; });
    }
    held_.clear();
  }

  std::size_t strikes() const { return strikes_; }
  // Answers by hundreds of their status.
  std::size_t answered(std::size_t hundred) const { return answered_.at(hundred); }

 private:
  void prepare() {
    if (assault_ == Assault::LargestBodies) {
      requests_ = {request_for(victim_, crowded_body(victim_.body_limit)),
                   request_for(victim_, crowded_body(victim_.body_limit + 1))};
    } else if (assault_ == Assault::NestedJson) {
      requests_ = {request_for(victim_, std::string(std::min(kDeepest, victim_.body_limit), '['))};
    } else {
      requests_ = {request_for(victim_, "{}")};
    }
  }

  static void yield_to_everybody() {
    sigset_t broken_pipes;
    sigemptyset(&broken_pipes);
    sigaddset(&broken_pipes, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);
    setpriority(PRIO_PROCESS, 0, kMostPolite);  // of this thread, on Linux
  }

  void strike() {
    std::erase_if(held_, [this](const auto& line) {
      return assault_ == Assault::SlowBodies && !line->send("[");
    });
    auto line = Line::open(from_, victim_.port, tls_ ? &*tls_ : nullptr);
    if (line == nullptr) {
      return;
    }
    const std::size_t turn = strikes_++;
    switch (assault_) {
      case Assault::HalfOpen:
        line->half_open();
        break;
      case Assault::SlowBodies:
        if (!line->shake_hands() || !line->send(head_for(victim_, victim_.body_limit))) {
          return;
        }
        break;
      case Assault::MadeUpPods:
        ask(*line, request_for(victim_, made_up_body(number_, turn, nodes_)));
        break;
      case Assault::LargestBodies:
      case Assault::NestedJson:
      case Assault::ManyConnections:
        ask(*line, requests_[turn % requests_.size()]);
        break;
    }
    hold(std::move(line));
  }

  // A server that refuses may answer before it has read everything, or not at all.
  void ask(Line& line, const std::string& request) {
    if (line.shake_hands()) {
      line.send(request);
      const auto hundred = static_cast<std::size_t>(line.read_status()) / 100;
      ++answered_.at(std::min(hundred, answered_.size() - 1));
    }
  }

  void hold(std::unique_ptr<Line> line) {
    held_.push_back(std::move(line));
    while (held_.size() > pace_.held) {
      held_.pop_front();
    }
  }

  const std::size_t number_;
  const Victim victim_;
  const Assault assault_;
  const std::optional<CallerTls> tls_;
  const json::array nodes_;
  const std::string from_;
  const Pace pace_;
  std::vector<std::string> requests_;
  std::deque<std::unique_ptr<Line>> held_;
  std::atomic<std::size_t> strikes_{0};
  std::array<std::atomic<std::size_t>, 6> answered_{};  // [0]: none came
};

// What the lanes hold together is more than a process may have open at first.
void lift_limit_of_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

std::string_view name_of(Assault assault) {
  switch (assault) {
    case Assault::HalfOpen:
      return "half-open handshakes";
    case Assault::SlowBodies:
      return "slow bodies";
    case Assault::LargestBodies:
      return "largest bodies";
    case Assault::NestedJson:
      return "nested JSON";
    case Assault::ManyConnections:
      return "many connections";
    case Assault::MadeUpPods:
      return "made-up pods";
  }
  return "";
}

struct Attacker::State {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::jthread> threads;  // end first
};

Attacker::Attacker() : state_(std::make_unique<State>()) {}

// All are told before the first is waited for.
Attacker::~Attacker() {
  for (auto& thread : state_->threads) {
    thread.request_stop();
  }
}

base::Result<std::unique_ptr<Attacker>> Attacker::start(std::vector<Victim> victims,
                                                        std::vector<Assault> assaults,
                                                        std::vector<std::string> nodes) {
  lift_limit_of_files();
  std::unique_ptr<Attacker> attacker(new Attacker());
  State& state = *attacker->state_;
  json::array names;
  for (const std::string& node : nodes) {
    names.emplace_back(node);
  }
  for (const Victim& victim : victims) {
    for (const Assault assault : assaults) {
      std::optional<CallerTls> tls;
      if (victim.tls) {
        MW_TRY(made, CallerTls::make(victim.certificate_pem, victim.key_pem));
        tls.emplace(std::move(made));
      }
      state.lanes.push_back(
          std::make_unique<Lane>(state.lanes.size(), victim, assault, std::move(tls), names));
    }
  }
  for (const auto& each : state.lanes) {
    state.threads.emplace_back(
        [lane = each.get()](std::stop_token stop) { lane->run(std::move(stop)); });
  }
  return attacker;
}

std::size_t Attacker::strikes() const {
  std::size_t sum = 0;
  for (const auto& lane : state_->lanes) {
    sum += lane->strikes();
  }
  return sum;
}

std::size_t Attacker::fewest_strikes() const {
  std::size_t fewest = state_->lanes.empty() ? 0 : state_->lanes.front()->strikes();
  for (const auto& lane : state_->lanes) {
    fewest = std::min(fewest, lane->strikes());
  }
  return fewest;
}

Attacker::Answers Attacker::answers() const {
  Answers sum;
  for (const auto& lane : state_->lanes) {
    sum.accepted += lane->answered(2) + lane->answered(3);
    sum.refused += lane->answered(4);
    sum.overloaded += lane->answered(5);
  }
  return sum;
}

}  // namespace millwright::plane
