#include "millwright/sandbox/world.hpp"

#include "sandbox/apiserver/store/access.hpp"
#include "sandbox/kubelet/kubelet.hpp"
#include "sandbox/scheduler/scheduler.hpp"
#include "sandbox/workloads/controller.hpp"
#include "sandbox/workloads/events.hpp"

#include <vector>

namespace millwright::sandbox {

namespace {

ApiServerOptions seeded(ApiServerOptions options, std::uint64_t seed) {
  options.seed = base::Random(seed).next();
  return options;
}

}  // namespace

struct World::Impl {
  Impl(base::Loop& l, const WorldOptions& options)
      : loop(l),
        server(l, seeded(options.api, options.seed)),
        transport(in_process_transport(server)),
        registry(ServerAccess::registry(server)),
        index(registry.store()),
        events(l, registry),
        context{l, registry, index, events, options.controller_lag, options.log},
        kubelet(context, options.kubelet),
        scheduler_options(options.scheduler),
        recorder(server, options.price) {
    schedulers.push_back(std::make_unique<Scheduler>(context, scheduler_options));
    controllers.push_back(make_deployment_controller(context));
    controllers.push_back(make_replica_set_controller(
        context, {.per_second = options.replica_pods_per_second, .burst = options.replica_burst}));
    controllers.push_back(make_stateful_set_controller(context));
    controllers.push_back(make_daemon_set_controller(context));
    controllers.push_back(make_job_controller(context));
    controllers.push_back(make_budget_controller(context));
    controllers.push_back(make_namespace_controller(context));
    controllers.push_back(make_garbage_collector(context));
    controllers.push_back(make_node_controller(context));
    controllers.push_back(make_pod_collector(context));
    index.on_event([this](const ResourceInfo& info, const Event& event) {
      if (!running) {
        return;
      }
      for (const auto& controller : controllers) {
        controller->observe(info, event);
      }
      for (const auto& scheduler : schedulers) {
        scheduler->observe(info, event);
      }
      kubelet.observe(info, event);
    });
  }

  void start() {
    running = true;
    kubelet.start();
    schedulers.front()->start();
    // What was there before counts as just added.
    for (const auto& info : all_infos()) {
      for (const auto& [key, object] : registry.store().objects(info)) {
        const Event event{Change::Added, object, nullptr, version_of(*object), loop.now()};
        for (const auto& controller : controllers) {
          controller->observe(info, event);
        }
      }
    }
  }

  void stop() {
    running = false;
    for (const auto& scheduler : schedulers) {
      scheduler->stop();
    }
    kubelet.stop();
    controllers.clear();
  }

  base::Loop& loop;
  ApiServer server;
  std::shared_ptr<kube::Transport> transport;
  Registry& registry;
  ClusterIndex index;
  EventWriter events;
  ClusterContext context;
  Kubelet kubelet;
  SchedulerOptions scheduler_options;
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  std::size_t retired_schedulers = 0;
  Recorder recorder;
  std::vector<std::unique_ptr<Controller>> controllers;
  bool running = false;
};

World::World(base::Loop& loop, WorldOptions options)
    : impl_(std::make_unique<Impl>(loop, options)) {}

World::~World() {
  impl_->stop();
}

base::Loop& World::loop() const {
  return impl_->loop;
}

ApiServer& World::api() {
  return impl_->server;
}

std::shared_ptr<kube::Transport> World::transport() {
  return impl_->transport;
}

cloud::InstanceListener& World::kubelet() {
  return impl_->kubelet;
}

void World::take_over(const std::string& node) {
  impl_->kubelet.take_over(node);
}

void World::go_back_to(const ApiServer::Backup& backup) {
  impl_->server.go_back_to(backup);
  restart_kubelets();
}

void World::restart_kubelets() {
  impl_->kubelet.restart();
}

void World::set_extender(std::shared_ptr<ExtenderCaller> caller) {
  impl_->schedulers.back()->set_extender(std::move(caller));
}

void World::start_scheduler(std::shared_ptr<ExtenderCaller> caller) {
  auto& started = impl_->schedulers.emplace_back(
      std::make_unique<Scheduler>(impl_->context, impl_->scheduler_options));
  started->set_extender(std::move(caller));
  started->start();
}

void World::retire_scheduler() {
  impl_->schedulers.at(impl_->retired_schedulers++)->retire();
}

Recorder& World::recorder() {
  return impl_->recorder;
}

void World::start() {
  impl_->start();
}

void World::stop() {
  impl_->stop();
}

}  // namespace millwright::sandbox
