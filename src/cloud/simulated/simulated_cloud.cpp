// The Provider interface over State: waiting, faults, and what a caller may see.
#include "cloud/simulated/profile.hpp"
#include "cloud/simulated/state.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace millwright::cloud {

using base::ErrorKind;
using base::fail;

namespace {

constexpr base::Duration kNoticeAgain = std::chrono::seconds(1);

base::Result<std::vector<scheduling::InstanceType>> read_catalog(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return fail(ErrorKind::Invalid, "catalog file " + file + ": cannot be opened for reading");
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_catalog(text.str(), file);
}

// Keys that a catalog brings count as well known, as in Karpenter's kwok provider.
void register_catalog_labels(const std::vector<scheduling::InstanceType>& types) {
  for (const auto& type : types) {
    for (const auto& offering : type.offerings) {
      for (const auto& requirement : offering.requirements) {
        model::register_well_known_label(requirement.key());
      }
    }
  }
}

std::string gone(std::string_view provider_id) {
  return "instance " + std::string(provider_id) + " does not exist (any more)";
}

}  // namespace

base::Result<std::unique_ptr<SimulatedCloud>> SimulatedCloud::make(base::Loop& loop,
                                                                   Profile profile,
                                                                   SimulatedSettings settings) {
  std::vector<scheduling::InstanceType> types;
  simulated::register_labels(profile);
  if (settings.catalog_file.empty()) {
    types = simulated::own_catalog(profile);
  } else {
    MW_TRY(read, read_catalog(settings.catalog_file));
    types = std::move(read);
    register_catalog_labels(types);
  }
  auto state = std::make_shared<State>(loop, profile, std::move(settings), std::move(types));
  return std::unique_ptr<SimulatedCloud>(new SimulatedCloud(std::move(state)));
}

SimulatedCloud::SimulatedCloud(std::shared_ptr<State> state) : state_(std::move(state)) {}
SimulatedCloud::~SimulatedCloud() {
  state_->listener = nullptr;
}

std::string_view SimulatedCloud::name() const {
  return simulated::traits(state_->profile).name;
}

std::span<const model::Resource> SimulatedCloud::node_classes() const {
  return simulated::traits(state_->profile).node_classes;
}

model::RepairPolicies SimulatedCloud::repair_policies() const {
  return simulated::traits(state_->profile).repair_policies;
}

Provider::Reply<Instance> SimulatedCloud::create(
    std::shared_ptr<const model::NodeClaim> claim,
    std::shared_ptr<const model::NodeClass> node_class) {
  const auto state = state_;
  if (auto fault = state->draw_fault("create")) {
    co_await base::sleep(state->loop, state->draw(state->settings.call));
    co_return tl::unexpected(*std::move(fault));
  }
  const std::string uid = claim->meta.uid;
  if (uid.empty()) {
    co_return fail(ErrorKind::Invalid, "NodeClaim " + claim->meta.name +
                                           " has no metadata.uid; create it in the API first");
  }
  const auto used = state->provider_id_by_claim.find(uid);
  std::string id = used == state->provider_id_by_claim.end() ? std::string() : used->second;
  if (id.empty()) {
    if (!node_class) {
      co_return fail(ErrorKind::NotReady, "NodeClaim " + claim->meta.name + ": " +
                                              claim->node_class_ref.kind + " " +
                                              claim->node_class_ref.name + " does not exist");
    }
    const auto* ready = model::find_condition(node_class->conditions, model::kReady);
    if (ready != nullptr && ready->status == model::ConditionStatus::False) {
      co_return fail(ErrorKind::NotReady, node_class->kind + " " + node_class->meta.name +
                                              " is not ready: " + ready->message);
    }
    auto launched = state->launch(claim, *node_class);
    if (!launched) {
      co_await base::sleep(state->loop, state->draw(state->settings.launch));
      co_return tl::unexpected(std::move(launched).error());
    }
    id = (*launched)->instance.provider_id;
  }
  // A repeated call waits for the same machine as the first. The timer that ends the launch was
  // set before any of ours, so it has run when we wake.
  const auto* machine = state->find(id);
  while (machine != nullptr && machine->phase == State::Phase::Launching) {
    const auto left = machine->exists_at - state->loop.now();
    co_await base::sleep(state->loop, std::max(left, base::Duration::zero()));
    machine = state->find(id);
  }
  if (machine == nullptr || machine->instance.terminating) {
    co_return fail(ErrorKind::NotFound,
                   "NodeClaim " + claim->meta.name + ": its instance " + id +
                       " was terminated; a new instance needs a new NodeClaim");
  }
  if (state->chance(state->settings.lost_reply_rate)) {
    co_return fail(ErrorKind::Timeout, "NodeClaim " + claim->meta.name +
                                           ": no answer to the launch (injected); ask again");
  }
  co_return machine->instance;
}

Provider::Reply<> SimulatedCloud::remove(std::shared_ptr<const model::NodeClaim> claim) {
  const auto state = state_;
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("remove")) {
    co_return tl::unexpected(*std::move(fault));
  }
  auto* machine = claim->provider_id.empty() ? state->find_by_claim(claim->meta.uid)
                                             : state->find(claim->provider_id);
  if (machine == nullptr) {
    co_return fail(ErrorKind::NotFound,
                   "NodeClaim " + claim->meta.name + ": " + gone(claim->provider_id));
  }
  state->terminate(*machine);
  co_return base::Result<>();
}

Provider::Reply<Instance> SimulatedCloud::get(std::string provider_id) {
  const auto state = state_;
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("get")) {
    co_return tl::unexpected(*std::move(fault));
  }
  const auto* machine = state->find(provider_id);
  if (machine == nullptr || machine->phase == State::Phase::Launching) {
    co_return fail(ErrorKind::NotFound, gone(provider_id));
  }
  co_return machine->instance;
}

Provider::Reply<std::vector<Instance>> SimulatedCloud::list() {
  const auto state = state_;
  auto instances = state->launched_instances();
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("list")) {
    co_return tl::unexpected(*std::move(fault));
  }
  co_return instances;
}

Provider::Reply<> SimulatedCloud::remove_leaked(std::string provider_id) {
  const auto state = state_;
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("remove")) {
    co_return tl::unexpected(*std::move(fault));
  }
  auto* machine = state->find(provider_id);
  if (machine == nullptr) {
    co_return fail(ErrorKind::NotFound, gone(provider_id));
  }
  state->terminate(*machine);
  co_return base::Result<>();
}

base::Result<scheduling::InstanceTypes> SimulatedCloud::instance_types(
    const model::NodePool& /*pool*/, const model::NodeClass& node_class) const {
  return state_->catalog(simulated::sale_for(state_->profile, node_class));
}

// The hash of the NodeClass spec at launch against now, as Karpenter's clouds compare it. Claims
// stamped by something else (another hash version) do not drift for it.
Provider::Reply<std::string> SimulatedCloud::drift(
    std::shared_ptr<const model::NodeClaim> claim,
    std::shared_ptr<const model::NodeClass> node_class) {
  const auto state = state_;
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("drift")) {
    co_return tl::unexpected(*std::move(fault));
  }
  if (!node_class || !simulated::traits(state->profile).drifts) {
    co_return std::string();
  }
  const auto stamp = simulated::hash_stamp(state->profile, *node_class);
  const bool drifts = model::is_stamped_otherwise(claim->meta, stamp);
  co_return std::string(drifts ? "NodeClassDrift" : "");
}

std::optional<model::HashStamp> SimulatedCloud::hash_of(const model::NodeClass& node_class) const {
  return simulated::traits(state_->profile).drifts
             ? std::optional(simulated::hash_stamp(state_->profile, node_class))
             : std::nullopt;
}

std::vector<std::string> SimulatedCloud::unsupported(const model::NodeClass& node_class) const {
  return simulated::unsupported(state_->profile, node_class);
}

Provider::Reply<NodeClassState> SimulatedCloud::resolve(
    std::shared_ptr<const model::NodeClass> node_class) {
  const auto state = state_;
  co_await base::sleep(state->loop, state->draw(state->settings.call));
  if (auto fault = state->draw_fault("resolve")) {
    co_return tl::unexpected(*std::move(fault));
  }
  co_return simulated::resolve_node_class(state->profile, *node_class);
}

base::Task<void> SimulatedCloud::run(std::stop_token stop) {
  const auto state = state_;
  while (!stop.stop_requested()) {
    const auto period =
        std::max<base::Duration>(state->settings.price_refresh, std::chrono::seconds(1));
    const bool due = co_await base::sleep(state->loop, period, stop);
    if (!due) {
      co_return;
    }
    state->move_prices();
  }
}

base::Task<void> SimulatedCloud::lead(std::stop_token stop) {
  const auto state = state_;
  while (!stop.stop_requested()) {
    if (state->notices.empty()) {
      co_await state->noticed.wait(stop);
      continue;
    }
    const InstanceNotice notice = state->notices.front();
    const auto acted = co_await state->notice_handler(notice);
    // It stays in the queue meanwhile: who leads may end before it has acted.
    const auto told = std::find_if(
        state->notices.begin(), state->notices.end(),
        [&](const InstanceNotice& one) { return one.provider_id == notice.provider_id; });
    if (told != state->notices.end()) {
      state->notices.erase(told);
    }
    if (!acted && state->find(notice.provider_id) != nullptr) {
      state->notices.push_back(notice);
      co_await base::sleep(state->loop, kNoticeAgain, stop);
    }
  }
}

void SimulatedCloud::on_catalog_change(std::function<void()> callback) {
  state_->catalog_callbacks.push_back(std::move(callback));
}
void SimulatedCloud::on_interruption(NoticeHandler handler) {
  state_->notice_handler = std::move(handler);
}

void SimulatedCloud::set_listener(InstanceListener* listener) {
  state_->listener = listener;
}

void SimulatedCloud::configure(SimulatedSettings settings) {
  settings.seed = state_->settings.seed;
  settings.catalog_file = state_->settings.catalog_file;
  state_->settings = std::move(settings);
  state_->catalog_changed();
}

const SimulatedSettings& SimulatedCloud::settings() const {
  return state_->settings;
}

void SimulatedCloud::sell_out(OfferingPattern pattern) {
  state_->settings.sold_out.push_back(std::move(pattern));
}

void SimulatedCloud::restock(const OfferingPattern& pattern) {
  std::erase(state_->settings.sold_out, pattern);
}

bool SimulatedCloud::interrupt(std::string_view provider_id) {
  return state_->interrupt(provider_id);
}
bool SimulatedCloud::lose(std::string_view provider_id) {
  return state_->lose(provider_id);
}

void SimulatedCloud::adopt(std::shared_ptr<const model::NodeClaim> claim) {
  state_->adopt(std::move(claim));
}
std::size_t SimulatedCloud::set_price(const OfferingPattern& pattern, double price) {
  return state_->set_price(pattern, price);
}
std::vector<OfferingPattern> SimulatedCloud::offerings() const {
  return state_->offerings();
}
model::StringMap SimulatedCloud::stamp(const model::NodeClass& node_class) const {
  return state_->stamp(node_class);
}

double SimulatedCloud::hourly_cost() const {
  double cost = 0;
  for (const auto& [_, machine] : state_->machines) {
    cost += machine.phase == State::Phase::Launching ? 0 : machine.price;
  }
  return cost;
}

double SimulatedCloud::total_cost() const {
  double cost = state_->cost_of_the_gone;
  for (const auto& [_, machine] : state_->machines) {
    if (machine.phase != State::Phase::Launching) {
      const std::chrono::duration<double, std::ratio<3600>> hours =
          state_->loop.now() - machine.exists_at;
      cost += machine.price * hours.count();
    }
  }
  return cost;
}

}  // namespace millwright::cloud
