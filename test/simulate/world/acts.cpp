// How a step is carried out.
#include "millwright/base/random.hpp"
#include "simulate/world/pinned_caller.hpp"
#include "simulate/world/world.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

json::object& annotations_of(json::value& metadata) {
  auto& entry = metadata.as_object()["annotations"];
  return entry.is_object() ? entry.get_object() : entry.emplace_object();
}

}  // namespace

void SimulatedWorld::carry_out(const Step& step) {
  note(to_string(step));
  switch (step.act) {
    case Act::Crash:
    case Act::Stop:
    case Act::Pause:
      return strike_replica(step);
    case Act::Cut:
    case Act::LoseRequests:
    case Act::LoseReplies:
    case Act::Clog:
    case Act::Slow:
    case Act::ExpireToken:
    case Act::ChangeCa:
      return strike_network(step);
    case Act::ChangeScheduler:
      return change_scheduler(step);
    case Act::HostileCalls:
      return call_as_nobody(now() + step.lasts);
    case Act::LateNodes:
    case Act::PoorNodes:
    case Act::LyingNodes:
      return break_kubelets(step);
    case Act::FlapNode:
    case Act::StripNode:
    case Act::TwinNode:
      return break_node(step);
    case Act::Interrupt:
    case Act::LoseMachine:
      return strike_cloud(step);
    case Act::JumpClock:
      return jump_clock(step);
    case Act::Restore:
      return restore(step);
    default:
      break;
  }
  if (step.act >= Act::Deploy && step.act <= Act::ForceClaim) {
    return act_as_people(step);
  }
  set_trouble(step, true);
  loop_.after(step.lasts, [this, step] { set_trouble(step, false); });
}

void SimulatedWorld::strike_replica(const Step& step) {
  Replica* const replica = chosen(step.which);
  if (replica == nullptr) {
    return;
  }
  if (step.act == Act::Pause) {
    replica->pause();
    loop_.after(step.lasts, [replica] { replica->go_on(); });
  } else if (step.act == Act::Crash) {
    crashes_[replica->name()] =
        replica->callbacks() + static_cast<std::uint64_t>(std::max(step.amount, 1));
    comes_back_[replica->name()] = step.lasts;
  } else if (!replica->killed()) {
    end(*replica, step.lasts);
  }
}

void SimulatedWorld::end(Replica& replica, base::Duration grace) {
  replica.stop();
  // The kubelet waits for the grace period, and no longer.
  loop_.after(grace, [this, &replica] { replace(replica, base::Duration::zero()); });
}

// The backup was made when the world was as old as that. What is written before etcd is back is
// lost, too, and no replica is heard.
void SimulatedWorld::restore(const Step& step) {
  trouble_.down = true;
  for (const auto& replica : replicas_) {
    replica->wire().end_watches();
  }
  loop_.after(step.lasts, [this, step] {
    trouble_.down = false;
    for (auto& [id, machine] : machines_) {
      machine.notice_forgotten = machine.interrupted;
    }
    world_->go_back_to(*backups_.at(backup_age(step)));
    restored_ = now();
    // What claims recorded of their instances may be lost with that history.
    for (auto& [id, machine] : machines_) {
      machine.claim_uid.clear();
    }
    for (const auto& [due, undo] : undone_) {
      if (due <= now()) {
        undo();
      }
    }
    deployments_.clear();
    for (const auto& deployment : world_->api().list(model::kDeploymentResource)) {
      deployments_.insert(std::string(model::text_at(*deployment, "metadata.name")));
    }
  });
}

void SimulatedWorld::undo_after(base::Duration lasts, std::function<void()> undo) {
  undone_.emplace_back(now() + lasts, undo);
  loop_.after(lasts, std::move(undo));
}

// As NTP does. Processes count from the time that they began with: those that start later see it.
void SimulatedWorld::jump_clock(const Step& step) {
  if (!schedule_.clocks.empty()) {
    const auto machine = static_cast<std::size_t>(step.which) % schedule_.clocks.size();
    schedule_.clocks[machine] += seconds(step.amount);
  }
}

void SimulatedWorld::crash_when_due() {
  for (auto crash = crashes_.begin(); crash != crashes_.end();) {
    const auto found = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& replica) {
      return replica->name() == crash->first;
    });
    if ((*found)->callbacks() < crash->second) {
      ++crash;
      continue;
    }
    replace(**found, comes_back_[crash->first]);
    crash = crashes_.erase(crash);
  }
}

void SimulatedWorld::replace(Replica& replica, base::Duration after) {
  if (!replica.killed()) {
    note("ends " + replica.name());
    replica.kill();
    loop_.after(after, [this] { start_replica(); });
  }
}

// As when its lease passes on, or its Deployment rolls: the next one knows nothing of what the last
// one has assumed.
void SimulatedWorld::change_scheduler(const Step& step) {
  world_->start_scheduler(std::make_shared<PinnedCaller>(*this, ++schedulers_));
  loop_.after(step.lasts, [this] {
    world_->retire_scheduler();
    // What it has let through is bound by then, or never.
    loop_.after(seconds(15), [this, gone = ++retired_schedulers_] {
      for (auto& [uid, calls] : filter_calls_) {
        calls.erase(gone);
      }
    });
  });
}

void SimulatedWorld::strike_network(const Step& step) {
  Replica* const replica = chosen(step.which);
  if (replica == nullptr) {
    return;
  }
  const auto set = [this, replica, act = step.act, amount = step.amount](bool on) {
    Network& network = network_of(*replica);
    if (act == Act::Cut) {
      replica->cut(on);
    } else if (act == Act::LoseRequests) {
      network.lose_requests(on);
    } else if (act == Act::LoseReplies) {
      network.lose_replies(on);
    } else if (act == Act::Clog) {
      network.clog(on);
    } else if (act == Act::ExpireToken) {
      network.expire_token(on);
    } else if (act == Act::ChangeCa) {
      network.distrust(on);
    } else {
      network.set_latency(milliseconds(on ? amount : 0));
    }
  };
  set(true);
  loop_.after(step.lasts, [set] { set(false); });
}

void SimulatedWorld::set_trouble(const Step& step, bool on) {
  const double rate = on ? step.amount / 100.0 : 0;
  const base::Duration late = milliseconds(on ? step.amount : 0);
  switch (step.act) {
    case Act::Storm:
      trouble_.storm = rate;
      break;
    case Act::LateCommit:
      trouble_.late_commit = rate;
      break;
    case Act::GonePages:
      trouble_.gone_pages = rate;
      break;
    case Act::Conflicts:
      faults_.conflict_rate = rate;
      break;
    case Act::Errors:
      faults_.error_rate = rate;
      break;
    case Act::CutWatches:
      faults_.watch_cut_rate = rate;
      break;
    case Act::LateWatches:
      faults_.watch_delay = late;
      break;
    case Act::LateLists:
      faults_.list_delay = late;
      break;
    case Act::SlowExtender:
      extender_latency_ = late;
      break;
    case Act::CloudErrors:
      cloud_trouble_.errors = rate;
      break;
    case Act::CloudThrottles:
      cloud_trouble_.throttles = rate;
      break;
    case Act::CloudLosesReplies:
      cloud_trouble_.lost_replies = rate;
      break;
    case Act::NoCapacity:
      cloud_trouble_.no_capacity = rate;
      break;
    case Act::SlowCloud:
      cloud_trouble_.slow = seconds(on ? step.amount : 0);
      break;
    case Act::Forbid:
      trouble_.forbidden =
          on ? static_cast<ApiTrouble::Forbidden>(step.amount + 1) : ApiTrouble::Forbidden::Nothing;
      break;
    case Act::WebhooksFail:
      trouble_.webhooks_fail = on;
      break;
    case Act::LaggingCloud:
      cloud_trouble_.lag = seconds(on ? step.amount : 0);
      break;
    default:
      break;
  }
  world_->api().set_faults(faults_);
  cloud_->set_trouble(cloud_trouble_);
}

void SimulatedWorld::strike_cloud(const Step& step) {
  if (machines_.empty()) {
    return;
  }
  const auto choice = static_cast<std::size_t>(step.which) % machines_.size();
  const auto machine = std::next(machines_.begin(), static_cast<std::ptrdiff_t>(choice));
  const std::string id = machine->first;
  if (step.act == Act::LoseMachine) {
    cloud_->lose(id);
  } else if (cloud_->interrupt(id)) {
    machine->second.interrupted = true;
  }
}

void SimulatedWorld::delete_claim(bool by_force) {
  for (const auto& [uid, claim] : recorder().claims()) {
    if (claim.gone || claim.deleting) {
      continue;
    }
    const std::string name = claim.last->meta.name;
    deleted_claims_.insert(name);
    if (by_force) {
      edit(model::kNodeClaimResource, name,
           [](json::value& object) { object.at("metadata").as_object().erase("finalizers"); });
    }
    static_cast<void>(
        world_->api().remove(model::kNodeClaimResource, {.namespace_ = {}, .name = name}));
    return;
  }
}

// Faster than nodes come: the pods find room that others have just left.
void SimulatedWorld::trickle(const Step& step, base::TimePoint until) {
  constexpr auto kBeat = milliseconds(900);
  if (const auto name = deployment_of(step)) {
    const auto beat = static_cast<std::uint64_t>(age() / kBeat);
    base::Random random(schedule_.seed + beat);
    const auto most = static_cast<std::uint64_t>(step.amount);
    edit(model::kDeploymentResource, *name, [&](json::value& object) {
      object.at("spec").as_object()["replicas"] = random.below(most + 1);
    });
  }
  if (now() + kBeat < until) {
    loop_.after(kBeat, [this, step, until] { trickle(step, until); });
  }
}

std::optional<std::string> SimulatedWorld::deployment_of(const Step& step) const {
  if (deployments_.empty()) {
    return std::nullopt;
  }
  const auto choice = static_cast<std::size_t>(step.which) % deployments_.size();
  return *std::next(deployments_.begin(), static_cast<std::ptrdiff_t>(choice));
}

void SimulatedWorld::act_as_people(const Step& step) {
  if (step.act == Act::Deploy) {
    const std::string name = "web-" + std::to_string(++made_deployments_);
    deployments_.insert(name);
    apply(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata:
      labels: {{app: {0}}}
    spec:
      containers: [{{name: main, image: main, resources: {{requests: {{cpu: {2}m}}}}}}]
)",
                      name, step.amount, milli_cpus(schedule_.cloud, step)));
  } else if (step.act == Act::EditPool) {
    edit(model::kNodePoolResource, "default", [&](json::value& pool) {
      auto& pod_template = pool.at("spec").at("template").as_object();
      pod_template["metadata"] =
          json::object{{"labels", json::object{{"edition", std::to_string(age().count())}}}};
    });
  } else if (step.act == Act::DeleteClaim || step.act == Act::ForceClaim) {
    delete_claim(step.act == Act::ForceClaim);
  } else if (step.act == Act::Trickle) {
    trickle(step, now() + step.lasts);
  } else if (step.act == Act::KeepPod || step.act == Act::DeletePod) {
    edit_pod(step);
  } else {
    edit_deployment(step);
  }
}

void SimulatedWorld::edit_deployment(const Step& step) {
  const auto name = deployment_of(step);
  if (!name) {
    return;
  }
  if (step.act == Act::Scale) {
    edit(model::kDeploymentResource, *name,
         [&](json::value& object) { object.at("spec").as_object()["replicas"] = step.amount; });
  } else if (step.act == Act::Rollout) {
    edit(model::kDeploymentResource, *name, [&](json::value& object) {
      annotations_of(object.at("spec").at("template").at("metadata"))["edition"] =
          std::to_string(age().count());
    });
    withdrawn_.emplace(now(), wanted_pods()[*name]);
  } else if (step.act == Act::Withdraw) {
    deployments_.erase(*name);
    const std::size_t wanted = wanted_pods()[*name];
    static_cast<void>(world_->api().remove(model::kDeploymentResource,
                                           {.namespace_ = "default", .name = *name},
                                           {.uid = {}, .propagation_policy = "Background"}));
    withdrawn_.emplace(now(), wanted);
  } else if (!world_->api().get(model::kPodDisruptionBudgetResource,
                                {.namespace_ = "default", .name = *name})) {
    apply(fmt::format(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {0}, namespace: default}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: {0}}}}}}}
)",
                      *name));
  }
}

void SimulatedWorld::edit_pod(const Step& step) {
  std::vector<std::string> pods;
  for (const auto& [uid, pod] : recorder().pods()) {
    if (!pod.gone && !pod.deleting) {
      pods.push_back(pod.last->meta.name);
    }
  }
  if (pods.empty()) {
    return;
  }
  std::sort(pods.begin(), pods.end());
  const std::string name = pods.at(static_cast<std::size_t>(step.which) % pods.size());
  if (step.act == Act::DeletePod) {
    static_cast<void>(
        world_->api().remove(model::kPodResource, {.namespace_ = "default", .name = name}));
    return;
  }
  const std::string key(model::kDoNotDisruptAnnotation);
  edit(model::kPodResource, name,
       [key](json::value& pod) { annotations_of(pod.at("metadata"))[key] = "true"; });
  undo_after(step.lasts, [this, name] {
    edit(model::kPodResource, name, [](json::value& object) {
      annotations_of(object.at("metadata")).erase(model::kDoNotDisruptAnnotation);
    });
  });
}

}  // namespace millwright::test
