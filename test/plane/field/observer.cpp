#include "plane/field/observer.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/scheduling/instance_type.hpp"
#include "plane/runner/watched.hpp"

#include <algorithm>
#include <future>
#include <thread>

namespace millwright::field {

struct Observer::State {
  base::RealLoop loop;
  std::unique_ptr<kube::Client> client;
  scheduling::InstanceTypes types;
  std::unique_ptr<sandbox::Recorder> recorder;
  std::unique_ptr<plane::Watched> watched;
  base::TaskGroup group{loop};
  std::thread thread;

  PriceLookup price() const {
    return [this](const model::StringMap& labels) { return scheduling::price_of(types, labels); };
  }

  // The answer of `question`, asked on the loop's thread.
  template <class Question>
  auto ask(Question question) {
    std::promise<decltype(question())> answer;
    loop.post([&] { answer.set_value(question()); });
    return answer.get_future().get();
  }

  base::TimePoint newest() const {
    base::TimePoint last{};
    const auto see = [&](const std::optional<base::TimePoint>& time) {
      last = std::max(last, time.value_or(last));
    };
    for (const auto& [uid, pod] : recorder->pods()) {
      see(pod.created), see(pod.bound), see(pod.deleting), see(pod.gone);
    }
    for (const auto& [uid, claim] : recorder->claims()) {
      see(claim.created), see(claim.deleting), see(claim.gone);
    }
    for (const auto& [uid, node] : recorder->nodes()) {
      see(node.created), see(node.disrupted), see(node.deleting), see(node.gone);
    }
    return last;
  }

  bool waiting() const {
    const auto waits = [](const auto& entry) { return !entry.second.gone && !entry.second.bound; };
    const auto ends = [](const auto& entry) { return !entry.second.gone && entry.second.deleting; };
    const auto& pods = recorder->pods();
    const auto& claims = recorder->claims();
    return std::any_of(pods.begin(), pods.end(), waits) ||
           std::any_of(claims.begin(), claims.end(), ends);
  }
};

Observer::Observer(const std::string& kubeconfig) : state_(std::make_unique<State>()) {
  auto& state = *state_;
  auto config = kube::load_kubeconfig(kubeconfig);
  state.client = std::make_unique<kube::Client>(
      state.loop, std::shared_ptr<kube::Transport>(kube::make_transport(
                      state.loop, *std::move(config), base::Logger(), "field")));
  // For prices: Karpenter's kwok provider sells the same types at the same prices.
  auto cloud = cloud::SimulatedCloud::make(state.loop, cloud::Profile::Kwok,
                                           cloud::default_settings(cloud::Profile::Kwok));
  state.types = *(*cloud)->instance_types({}, {});
  state.recorder = std::make_unique<sandbox::Recorder>(state.loop, state.price());
  state.watched = std::make_unique<plane::Watched>(*state.client, *state.recorder, base::Logger());
  state.group.spawn(state.watched->run(state.group.stop_token()));
  state.thread = std::thread([&state] { state.loop.run(); });
}

Observer::~Observer() {
  state_->loop.stop();
  state_->thread.join();
}

base::TimePoint Observer::now() const {
  return state_->loop.now();
}

base::TimePoint Observer::last_move() {
  return state_->ask([this] { return state_->newest(); });
}

bool Observer::has_waiting() {
  return state_->ask([this] { return state_->waiting(); });
}

Figures Observer::figures(const Window& window) {
  return state_->ask([&] { return figures_of(*state_->recorder, window, state_->price()); });
}

}  // namespace millwright::field
