// What happens in a simulated world, as data: drawn from a seed first, then carried out. So a run
// can be repeated, and steps can be left out until no more may go.
#pragma once

#include "millwright/base/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::test {

enum class Act : std::uint8_t {
  // to a replica
  Crash,  // kill -9 after so many callbacks of its loop; another starts after `lasts`
  Stop,   // SIGTERM; another starts after `lasts`
  Pause,  // SIGSTOP
  // to a replica's network
  Cut,           // nothing gets through, and watches end
  LoseRequests,  // one-way: the API server hears nothing
  LoseReplies,   // one-way: the API server acts, and the replica hears nothing
  Clog,          // everything arrives when it is over
  Slow,          // each way takes up to so many milliseconds
  // to the API server
  Storm,        // so many of a hundred requests are answered 429
  LateCommit,   // so many of a hundred writes are done and answered 504
  GonePages,    // so many of a hundred further pages of a list are answered 410
  Conflicts,    // so many of a hundred writes are answered 409
  Errors,       // so many of a hundred requests are answered 500
  CutWatches,   // so many of a hundred events cut the watch
  LateWatches,  // events come up to so many milliseconds late
  LateLists,    // lists come up to so many milliseconds late
  // to kube-scheduler's calls
  SlowExtender,  // each takes up to so many milliseconds each way; its limit is two seconds
  // to the cloud
  CloudErrors,
  CloudThrottles,
  CloudLosesReplies,
  NoCapacity,
  SlowCloud,    // each call takes up to so many seconds
  Interrupt,    // a machine is taken back, two minutes after the notice
  LoseMachine,  // a machine vanishes
  // by people
  Deploy,    // one more Deployment
  Scale,     // of a Deployment, to so many pods
  Rollout,   // of a Deployment
  Withdraw,  // a Deployment is deleted
  EditPool,  // every node drifts
  Protect,   // a Deployment gets a PodDisruptionBudget
  KeepPod,   // a pod gets karpenter.sh/do-not-disrupt for so long
  DeletePod,
  DeleteClaim,
  Trickle,     // a Deployment is scaled again and again, to so many pods at most
  ForceClaim,  // a NodeClaim is deleted without its finalizers
  // to the clouds that are not kwok's
  LaggingCloud,  // new machines show up in lists up to so many seconds late
  // to a machine that replicas run on
  JumpClock,  // forward by so many seconds, or back
  // to etcd
  Restore,  // from a backup that is so many seconds old; until then nobody answers
  // to a replica's credentials
  ExpireToken,  // 401
  ChangeCa,     // connections are refused, those that are open stay
  // to the API server's rules
  Forbid,        // 403: of everything, of writes, or of Karpenter's kinds
  WebhooksFail,  // writes of Karpenter's kinds are answered 500
  // to kube-scheduler
  ChangeScheduler,  // another takes over; for so long both work
  // to the extender
  HostileCalls,  // garbage, unknown nodes and pods, real ones in disorder
  // to kubelets
  LateNodes,   // machines that launch meanwhile register so many seconds later
  PoorNodes,   // they report so many of a hundred CPUs, until they are mended
  LyingNodes,  // they register with the provider id of another machine, or of none
  FlapNode,    // a Node is not Ready
  StripNode,   // a Node is without Karpenter's labels and all taints
  TwinNode,    // a machine has a second Node of another name
};
inline constexpr int kActs = static_cast<int>(Act::TwinNode) + 1;
std::string to_string(Act act);

struct Step {
  base::Duration at{};  // from the beginning
  Act act = Act::Deploy;
  int which = 0;           // replica, Deployment, pod or machine: the remainder chooses
  int amount = 0;          // pods, percent, milliseconds, seconds or callbacks
  base::Duration lasts{};  // zero: there is nothing to undo
};
std::string to_string(const Step& step);
// Kwok's cloud is one object; the others are the real providers before clouds that remember.
enum class Cloud : std::uint8_t { Kwok, Aws, Alibaba, Huawei };
std::string to_string(Cloud cloud);

struct Schedule {
  std::uint64_t seed = 1;
  Cloud cloud = Cloud::Kwok;
  bool small = false;  // few pods and few troubles: most faults need no more, and it is quick
  int replicas = 2;
  base::Duration solve_time{};    // plans take up to so long
  base::Duration bind_latency{};  // kube-scheduler's
  double pods_per_second = 20;
  base::Duration launch{};
  base::Duration boot{};
  base::Duration ready{};  // from a node's registration until it is Ready
  base::Duration consolidate_after{};
  int budget = 1;       // nodes that may be removed at once
  int limit_cpus = 64;  // of the NodePool
  int machines_limit =
      0;  // it is room for so many pods of a whole machine; 0: for all that may come
  // How far the clocks of the machines that replicas run on are ahead of the API server's.
  std::vector<base::Duration> clocks;
  base::Duration registration_limit = std::chrono::minutes(15);  // of a machine
  bool clocks_are_wild = false;  // and a process may not learn the API server's when it starts
  std::vector<Step> steps;
};
std::string to_string(const Schedule& schedule);
// What each pod of a new Deployment asks for.
int milli_cpus(Cloud cloud, const Step& deploy);

// Whether requests of replicas, or replicas themselves, get lost or come late meanwhile.
bool disturbs_replicas(Act act);
// How old the world is when the backup of a Restore is made.
base::Duration backup_age(const Step& restore);

// Faults end before this, and what lasts is undone.
inline constexpr base::Duration kTrouble = std::chrono::minutes(5);

Schedule draw(std::uint64_t seed);

}  // namespace millwright::test
