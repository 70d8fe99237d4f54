// The kubelets of the simulated cloud's instances. Registers a Node for every instance after its
// boot, makes it Ready, runs the pods bound to it and ends them when they are deleted. The Node of
// a terminated instance becomes Unknown after a while and stays until somebody deletes it. Loop
// thread only.
#pragma once

#include "millwright/cloud/simulated.hpp"
#include "millwright/sandbox/world.hpp"
#include "sandbox/workloads/controller.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace millwright::sandbox {

class Kubelet final : public cloud::InstanceListener {
 public:
  Kubelet(ClusterContext& context, KubeletOptions options);
  ~Kubelet() override;
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  void launched(const cloud::Instance& instance, std::shared_ptr<const model::NodeClaim> claim,
                base::Duration boot_latency) override;
  void terminating(const std::string& provider_id) override;
  void terminated(const std::string& provider_id) override;

  void start();
  // A Ready Node that was restored after start().
  void take_over(const std::string& node);
  // On all machines, as after a restore of etcd: their Nodes may be gone, older, or of machines
  // that are gone.
  void restart();
  void stop();
  // Sees every change inside the write.
  void observe(const ResourceInfo& info, const Event& event);

 private:
  struct Machine {
    cloud::Instance instance;
    std::shared_ptr<const model::NodeClaim> claim;
    std::string node;
    int number = 0;
    bool registered = false;
    base::TimerId timer = 0;  // the next step of its life
  };

  void take_over(const model::Node& node);
  void register_node(const std::string& provider_id);
  void report_ready(const std::string& provider_id);
  void heartbeat(const std::string& provider_id);
  void await_contact(const std::string& node);
  void lose_contact(const std::string& node);
  Json node_object(const Machine& machine) const;
  void write_lease(const std::string& node, bool create);
  void register_drivers(const std::string& node);
  const Machine* machine_of(std::string_view node) const;

  // Pods, by uid: one pending step each.
  void sync_pod(const model::ObjectKey& key);
  void step_after(const std::string& uid, const model::ObjectKey& key, base::Duration delay);
  void run_pod(const PodEntry& entry);
  void finish_pod(const PodEntry& entry);
  base::Duration run_time(const model::Pod& pod) const;

  ClusterContext& context_;
  KubeletOptions options_;
  std::map<std::string, Machine> machines_;  // by provider id
  std::map<std::string, std::string, std::less<>> machine_by_node_;
  struct Step {
    base::TimePoint due;
    base::TimerId timer = 0;
  };
  std::map<std::string, Step> steps_;              // by pod uid
  std::map<std::string, base::TimerId> silences_;  // by node: when its silence is noticed
  int count_ = 0;
  int pod_addresses_ = 0;
  bool running_ = false;
};

}  // namespace millwright::sandbox
