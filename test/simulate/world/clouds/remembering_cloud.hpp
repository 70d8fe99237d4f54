// What the clouds that remember have in common: an API behind a network with troubles, machines
// that end some seconds after they were asked to, and a provider of its own for each replica.
#pragma once

#include "simulate/world/clouds/cloud_network.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::test {

// Of a fake's list; nullptr when it never had it.
template <class Machines>
auto* find_machine(Machines& machines, const std::string& provider_id) {
  const auto found = std::find_if(machines.begin(), machines.end(), [&](const auto& machine) {
    return instance_of(machine).provider_id == provider_id;
  });
  return found == machines.end() ? nullptr : &*found;
}

// What its tag says; empty: it has none.
template <class Machines>
std::string tag_of(const Machines& machines, const std::string& provider_id, std::string_view tag) {
  const auto* machine = find_machine(machines, provider_id);
  if (machine == nullptr) {
    return {};
  }
  const auto found = machine->tags.find(std::string(tag));
  return found == machine->tags.end() ? std::string() : found->second;
}

// Whether an operation of this name leaves everything as it is.
inline bool only_asks(std::string_view operation) {
  return operation.starts_with("Describe") || operation.starts_with("Get") ||
         operation.starts_with("List") || operation.starts_with("Receive");
}

class RememberingCloud : public WorldCloud {
 public:
  RememberingCloud(base::VirtualLoop& loop, const Schedule& schedule, MachineListener& listener)
      : loop_(loop),
        http_(loop),
        listener_(listener),
        boot_(schedule.boot),
        random_(schedule.seed) {
    api_.answer = [this](const net::ClientRequest& request) {
      restock();
      return http_.handler(request);
    };
    api_.changes = [this](const net::ClientRequest& request) { return change_in(request); };
  }

  void set_trouble(const CloudTrouble& trouble) override {
    api_.trouble = trouble;
    set_lag(trouble.lag);
    restock();
  }

 protected:
  // What the request asks to change; empty: nothing.
  virtual std::string change_in(const net::ClientRequest& request) const = 0;
  // Machines that are hidden now show up within it.
  virtual void set_lag(base::Duration lag) = 0;
  // From now on each offering is sold out if `is_sold_out()` says so for it.
  virtual void restock() = 0;
  // The machine is gone, whoever ended it.
  virtual void forget(const std::string& provider_id) = 0;

  bool is_sold_out() {
    return api_.trouble.no_capacity > 0 && random_.unit() < api_.trouble.no_capacity;
  }
  bool chance(double rate) { return random_.unit() < rate; }
  void boot(const cloud::Instance& instance) { listener_.launched(instance, nullptr, boot_); }
  // It was asked to end.
  void shut_down(const std::string& provider_id) {
    listener_.terminating(provider_id);
    loop_.after(kShutdown, [this, provider_id] { end(provider_id); });
  }
  void end(const std::string& provider_id) {
    forget(provider_id);
    listener_.terminated(provider_id);
  }
  // A network for a replica, which outlives all its processes.
  net::Client& connect(ProviderParts& parts) {
    return *networks_.emplace_back(std::make_unique<CloudNetwork>(
        parts.loop, loop_, api_, random_.fork(), std::move(parts.on_change)));
  }

  base::VirtualLoop& loop_;
  cloud::FakeHttp http_;
  cloud::FakeMachine machine_;
  CloudApi api_;

 private:
  MachineListener& listener_;
  base::Duration boot_;
  base::Random random_;
  std::vector<std::unique_ptr<CloudNetwork>> networks_;
};

}  // namespace millwright::test
