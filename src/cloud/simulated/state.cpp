#include "cloud/simulated/state.hpp"

#include <utility>

namespace millwright::cloud {

SimulatedCloud::State::State(base::Loop& loop_, Profile profile_, SimulatedSettings settings_,
                             std::vector<scheduling::InstanceType> types_)
    : loop(loop_),
      profile(profile_),
      settings(std::move(settings_)),
      random(settings.seed),
      types(std::move(types_)),
      noticed(loop_) {}

SimulatedCloud::State::~State() {
  for (auto& [_, machine] : machines) {
    for (const auto& timer : {machine.step, machine.interruption}) {
      if (timer) {
        loop.cancel(*timer);
      }
    }
  }
}

base::Duration SimulatedCloud::State::draw(const Latency& latency) {
  const double unit = random.unit();
  const auto between = [](base::Duration from, base::Duration to, double fraction) {
    return from + base::Duration(static_cast<base::Duration::rep>(
                      static_cast<double>((to - from).count()) * fraction));
  };
  return unit < 0.5 ? between(latency.least, latency.typical, unit * 2)
                    : between(latency.typical, latency.most, unit * 2 - 1);
}

bool SimulatedCloud::State::chance(double probability) {
  return probability > 0 && random.unit() < probability;
}

std::optional<base::Error> SimulatedCloud::State::draw_fault(std::string_view call) {
  const std::string where = std::string(simulated::traits(profile).name).append(" ").append(call);
  if (chance(settings.throttle_rate)) {
    return base::Error{base::ErrorKind::Throttled,
                       where + ": too many requests (injected); retry in 1s",
                       std::chrono::seconds(1)};
  }
  if (chance(settings.error_rate)) {
    return base::Error{
        base::ErrorKind::Unavailable, where + ": service unavailable (injected)", {}};
  }
  return std::nullopt;
}

base::TimerId SimulatedCloud::State::schedule(base::Duration delay,
                                              std::function<void(State&)> step) {
  return loop.after(delay, [weak = weak_from_this(), run = std::move(step)] {
    if (const auto self = weak.lock()) {
      run(*self);
    }
  });
}

}  // namespace millwright::cloud
