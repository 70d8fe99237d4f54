#include "app/replay/replay_run.hpp"

#include "millwright/model/codec.hpp"

namespace millwright::app {
namespace {

using model::text_at;

constexpr auto kReplayStopLimit = std::chrono::hours(1);
constexpr auto kFirstListsLimit = std::chrono::minutes(10);
constexpr auto kApplyLimit = std::chrono::minutes(10);

base::Task<void> stop_replay(Changes* changes, ReplayCluster* replayed, bool* stopped) {
  if (changes != nullptr) {
    co_await changes->stop();
  }
  co_await replayed->cluster().stop();
  *stopped = true;
}

base::Task<void> make_changes(Changes* changes, std::vector<ChangeAsked> asked,
                              std::optional<base::Result<>>* outcome) {
  *outcome = co_await changes->make(std::move(asked));
}

}  // namespace

ReplayRun::ReplayRun(const ReplaySetup& setup)
    : setup_(setup), loop_(setup.day.start), group_(loop_) {}

ReplayRun::~ReplayRun() {
  stop();
}

void ReplayRun::stop() {
  if (cluster_) {
    bool stopped = false;
    group_.spawn(stop_replay(changes_.get(), cluster_.get(), &stopped));
    loop_.run_until([&] { return stopped; }, kReplayStopLimit);
    changes_.reset();
    cluster_.reset();
  }
}

base::Result<> ReplayRun::open() {
  MW_TRY(made, ReplayCluster::make(loop_, compute_,
                                   {.clouds = setup_.clouds,
                                    .seed = setup_.seed,
                                    .instance_types_file = setup_.instance_types_file,
                                    .pace = setup_.pace,
                                    .write_decision = setup_.write_decision},
                                   setup_.files.objects));
  cluster_ = std::move(made);
  return {};
}

base::Result<> ReplayRun::apply_file() {
  std::vector<ChangeAsked> asked;
  for (const auto& [file, objects] : setup_.applied) {
    asked.emplace_back(ApplyFile{file});
    for (const auto& object : objects) {
      replaced_.emplace(text_at(object, "kind"), text_at(object, "metadata.name"));
    }
  }
  changes_ = std::make_unique<Changes>(cluster_->cluster(), setup_.clouds, setup_.applied);
  std::optional<base::Result<>> outcome;
  group_.spawn(make_changes(changes_.get(), std::move(asked), &outcome));
  loop_.run_until([&] { return outcome.has_value(); }, kApplyLimit);
  return outcome ? *std::move(outcome)
                 : base::fail(base::ErrorKind::Timeout, "the file is not applied in ten minutes");
}

base::Result<> ReplayRun::run() {
  if (auto opened = open(); !opened) {
    return opened;
  }
  loop_.run_ready();
  cluster_->cluster().start();
  const auto& state = cluster_->cluster().engine().state();
  loop_.run_until([&] { return state.latest()->synced; }, kFirstListsLimit);
  if (auto applied = apply_file(); !applied) {
    return applied;
  }
  for (const auto& step : setup_.day.steps) {
    if (step.at > loop_.now()) {
      loop_.run_until(step.at);
    }
    if (is_replaced(step)) {
      ++outvoted_;
    } else {
      cluster_->take(step);
    }
  }
  if (setup_.day.end > loop_.now()) {
    loop_.run_until(setup_.day.end);
  }
  return {};
}

bool ReplayRun::is_replaced(const DayStep& step) const {
  return !step.object.resource->namespaced &&
         replaced_.contains({std::string(step.object.resource->kind),
                             std::string(text_at(step.object.object, "metadata.name"))});
}

std::vector<std::string> ReplayRun::notes() const {
  auto notes = cluster_->notes();
  if (outvoted_ > 0) {
    notes.push_back(std::to_string(outvoted_) +
                    " recorded change(s) of what the given file replaces are left out");
  }
  return notes;
}

}  // namespace millwright::app
