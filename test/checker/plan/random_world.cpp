#include "checker/plan/random_world.hpp"

#include "unit/scheduling/topology/topology_builders.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

namespace millwright::checker {
namespace {

using namespace scheduling;           // NOLINT: a test helper about nothing else
using namespace scheduling::testing;  // NOLINT
using model::Operator;

constexpr auto kRack = "example.com/rack";
constexpr auto kReservationId = "provider.example.com/reservation-id";

class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed) {}

  Problem make() {
    model::register_well_known_label(kReservationId);
    snapshot_ = std::make_shared<Snapshot>();
    for (const char* name : {"default", "other"}) {
      auto item = std::make_shared<model::Namespace>();
      item->meta.name = name;
      item->meta.labels = {{"team", name}};
      snapshot_->namespaces.push_back(item);
    }
    make_volumes();
    const InstanceTypes types = make_types();
    const int pools = 1 + pick(3);
    for (int i = 0; i < pools; ++i) {
      problem_.pools.push_back({make_pool(i), types});
    }
    const int nodes = pick(5);
    for (int i = 0; i < nodes; ++i) {
      add_node(i);
    }
    const int kinds = pick(10);
    for (int i = 0; i < kinds; ++i) {
      const PodBuilder like = make_pod();
      for (const PodPtr& pod : pods(1 + pick(6), "pod-" + std::to_string(i), like)) {
        problem_.pods.push_back(pod);
      }
    }
    if (once_in(3)) {
      problem_.daemon_sets.push_back(daemon_set("daemon", pod("d").cpu("200m").memory("64Mi")));
    }
    add_kept_room();
    problem_.options.preferences =
        once_in(3) ? PreferencePolicy::Ignore : PreferencePolicy::Respect;
    problem_.options.min_values =
        once_in(2) ? MinValuesPolicy::Strict : MinValuesPolicy::BestEffort;
    problem_.cluster = snapshot_;
    return std::move(problem_);
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool once_in(int n) { return pick(n) == 0; }
  std::string zone() { return "zone-" + std::to_string(pick(3)); }
  std::string app() { return std::string(1, static_cast<char>('a' + pick(3))); }
  std::string_view domain_key() {
    switch (pick(5)) {
      case 0:
        return model::kCapacityTypeLabel;
      case 1:
        return kRack;
      case 2:
        return model::kHostnameLabel;
      default:
        return model::kZoneLabel;
    }
  }

  InstanceTypes make_types() {
    std::vector<InstanceType> list;
    const int count = 1 + pick(6);
    for (int i = 0; i < count; ++i) {
      const int cpu = 1 << pick(5);
      TypeBuilder item = type("t" + std::to_string(i));
      item.cpu(std::to_string(cpu))
          .memory(std::to_string(cpu * (1 + pick(4))) + "Gi")
          .max_pods(std::to_string(4 + pick(12)))
          .arch(once_in(4) ? "arm64" : "amd64")
          .sold(std::vector<std::pair<std::string, std::string>>{});
      std::set<std::pair<std::string, bool>> made;
      const int offerings = 1 + pick(5);
      for (int o = 0; o < offerings; ++o) {
        const std::pair<std::string, bool> what{zone(), once_in(2)};
        if (made.insert(what).second) {
          Offering sold = offering(what.first, what.second ? "spot" : "on-demand",
                                   cpu * (10 + pick(10)) / 100.0);
          sold.available = !once_in(8);
          item.sold(std::move(sold));
        }
      }
      if (once_in(8)) {
        Offering sold = offering(zone(), "reserved", 0.01);
        sold.requirements.add(in(kReservationId, {"r-" + std::to_string(i)}));
        sold.reservation_capacity = 1 + pick(2);
        item.sold(std::move(sold));
      }
      list.push_back(item);
    }
    return types(std::move(list));
  }

  PoolBuilder make_pool(int index) {
    PoolBuilder result = pool("pool-" + std::to_string(index));
    result.weight(pick(3));
    if (once_in(3)) {
      result.requires_(
          need(model::kZoneLabel, once_in(2) ? Operator::In : Operator::NotIn, {zone(), zone()}));
    }
    if (once_in(2)) {
      result.requires_(need(kRack, Operator::In, {"r1", "r2"}));
    } else if (once_in(2)) {
      result.label(kRack, "r3");
    }
    if (once_in(5)) {
      result.requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 1 + pick(3)));
    }
    if (once_in(4)) {
      result.taint("dedicated", "x", once_in(2) ? "NoSchedule" : "PreferNoSchedule");
    }
    if (once_in(4)) {
      result.limit("cpu", std::to_string(pick(60)));
    }
    if (once_in(6)) {
      result.limit("nodes", std::to_string(pick(5)));
    }
    return result;
  }

  model::LabelSelector selector() {
    if (once_in(12)) {
      return {};
    }
    if (once_in(5)) {
      return {.match_expressions = {
                  need("app", once_in(2) ? Operator::In : Operator::NotIn, {app(), app()})}};
    }
    return matching({{"app", app()}});
  }

  model::PodAffinityTerm random_term() {
    model::PodAffinityTerm result;
    result.topology_key = domain_key();
    result.label_selector = selector();
    if (once_in(6)) {
      result.namespaces = {"other"};
    }
    if (once_in(8)) {
      result.namespace_selector = once_in(2) ? matching({{"team", "other"}}) : matching({});
    }
    if (once_in(8)) {
      result.match_label_keys = {"revision"};
    }
    if (once_in(16)) {
      result.mismatch_label_keys = {"revision"};
    }
    return result;
  }

  model::TopologySpreadConstraint random_spread() {
    auto result =
        spread_over(domain_key(), 1 + pick(2), {}, once_in(4) ? "ScheduleAnyway" : "DoNotSchedule");
    result.label_selector = selector();
    if (once_in(5)) {
      result.min_domains = 1 + pick(4);
    }
    if (once_in(5)) {
      result.node_affinity_policy = "Ignore";
    }
    if (once_in(4)) {
      result.node_taints_policy = "Honor";
    }
    if (once_in(6)) {
      result.match_label_keys = {"revision"};
    }
    return result;
  }

  void add_topology(PodBuilder& pod) {
    const int constraints = once_in(2) ? 1 : pick(3);
    for (int i = 0; i < constraints; ++i) {
      switch (pick(6)) {
        case 0:
          pod.with(beside(random_term()));
          break;
        case 1:
          pod.with(apart(random_term()));
          break;
        case 2:
          pod.with(once_in(2) ? likes(1 + pick(9), random_term())
                              : likes(5, term(model::kZoneLabel, {{"app", app()}})));
          break;
        case 3:
          pod.with(dislikes(1 + pick(9), random_term()));
          break;
        default:
          pod.with(spreads(random_spread()));
      }
    }
  }

  PodBuilder make_pod() {
    PodBuilder result = pod("like");
    result.cpu(std::to_string(100 * (1 + pick(30))) + "m");
    result.memory(std::to_string(128 * (1 + pick(30))) + "Mi");
    result.label("app", app());
    if (once_in(2)) {
      result.label("revision", std::to_string(pick(2)));
    }
    if (once_in(6)) {
      result.with([](model::Pod& p) { p.meta.namespace_ = "other"; });
    }
    if (once_in(6)) {
      result.selects(model::kZoneLabel, zone());
    }
    if (once_in(6)) {
      result.requires_term({need(model::kArchLabel, Operator::In, {"arm64"})});
      if (once_in(2)) {
        result.requires_term({need(model::kZoneLabel, Operator::NotIn, {zone()})});
      }
    }
    if (once_in(6)) {
      result.prefers(1 + pick(5), {need(model::kZoneLabel, Operator::In, {zone()})});
    }
    if (once_in(3)) {
      result.tolerates("dedicated", "x", "NoSchedule");
    }
    if (once_in(10)) {
      result.host_port(80 + pick(2));
    }
    if (once_in(8)) {
      result.claim_volume("volume-" + std::to_string(pick(4)));
    }
    if (!once_in(3)) {
      add_topology(result);
    }
    return result;
  }

  void make_volumes() {
    auto late = std::make_shared<model::StorageClass>();
    late->meta.name = "late";
    late->provisioner = "disk.example.com";
    late->volume_binding_mode = "WaitForFirstConsumer";
    if (once_in(2)) {
      late->allowed_topologies = {{{need(model::kZoneLabel, Operator::In, {zone(), zone()})}, {}}};
    }
    snapshot_->storage_classes.push_back(late);
    for (const char* space : {"default", "other"}) {
      for (int i = 0; i < 4; ++i) {
        auto claim = std::make_shared<model::PersistentVolumeClaim>();
        claim->meta.name = "volume-" + std::to_string(i);
        claim->meta.namespace_ = space;
        claim->storage_class = "late";
        if (once_in(2)) {
          auto volume = std::make_shared<model::PersistentVolume>();
          volume->meta.name = std::string(space) + "-" + claim->meta.name;
          volume->csi_driver = "disk.example.com";
          const int terms = 1 + pick(2);
          for (int t = 0; t < terms; ++t) {
            volume->required_node_terms.push_back(
                {{need(model::kZoneLabel, Operator::In, {zone()})}, {}});
          }
          claim->volume_name = volume->meta.name;
          claim->meta.annotations["pv.kubernetes.io/bind-completed"] = "yes";
          snapshot_->volumes.push_back(volume);
        }
        snapshot_->volume_claims.push_back(claim);
      }
    }
  }

  void add_node(int index) {
    const std::string name = "node-" + std::to_string(index);
    NodeBuilder result = node(name);
    result.label(model::kNodePoolLabel, "pool-" + std::to_string(pick(2)))
        .label(model::kZoneLabel, zone())
        .label(model::kArchLabel, once_in(3) ? "arm64" : "amd64")
        .label(model::kCapacityTypeLabel, once_in(2) ? "spot" : "on-demand")
        .allocatable("cpu", std::to_string(2 + pick(8)))
        .allocatable("memory", std::to_string(4 + pick(16)) + "Gi")
        .allocatable("pods", std::to_string(3 + pick(8)));
    if (once_in(2)) {
      result.label(kRack, "r" + std::to_string(1 + pick(3)));
    }
    if (once_in(5)) {
      result.taint("dedicated", "x", "NoSchedule");
    }
    if (once_in(4)) {
      result.uninitialized();
    }
    const bool leaving = once_in(6);
    const int bound = pick(3);
    for (int i = 0; i < bound; ++i) {
      PodBuilder running = make_pod();
      running.with([&](model::Pod& p) {
        p.meta.name = p.meta.uid = "bound-" + name + "-" + std::to_string(i);
        p.spec.node_name = name;
        p.spec.containers.front().requests = resources({{"cpu", "200m"}, {"memory", "64Mi"}});
        if (!leaving && once_in(10)) {
          p.meta.deletion_timestamp = base::TimePoint(std::chrono::seconds(1));
        }
      });
      result.runs(running);
      if (leaving) {
        problem_.pods.push_back(running);
      }
    }
    if (leaving) {
      result.with_record([](NodeRecord& record) { record.marked_for_deletion = true; })
          .with_claim([](model::NodeClaim& claim) {
            claim.meta.deletion_timestamp = base::TimePoint(std::chrono::seconds(1));
          });
    }
    if (once_in(3)) {
      auto csi = std::make_shared<model::CSINode>();
      csi->meta.name = name;
      csi->drivers.push_back({"disk.example.com", 1 + pick(2)});
      snapshot_->csi_nodes.push_back(csi);
    }
    const NodeRecordPtr record = result;
    snapshot_->nodes.push_back(record);
    problem_.counted_nodes.push_back(record);
    if (!leaving) {
      problem_.nodes.push_back(record);
    }
  }

  void add_kept_room() {
    if (problem_.pods.empty() || problem_.nodes.empty() || !once_in(3)) {
      return;
    }
    for (int i = 0; i < 3; ++i) {
      const auto& pod = problem_.pods[random_() % problem_.pods.size()];
      const auto& node = problem_.nodes[random_() % problem_.nodes.size()];
      problem_.kept.push_back({.target = node->name(),
                               .pod_uid = pod->meta.uid,
                               .requests = resources({{"cpu", "1"}})});
    }
    problem_.kept.push_back({.target = problem_.nodes.back()->name(),
                             .pod_uid = {},
                             .requests = resources({{"cpu", "1"}, {"pods", "1"}})});
    keep_room_for_like(problem_.pods[random_() % problem_.pods.size()],
                       problem_.nodes[random_() % problem_.nodes.size()]);
  }

  // For two pods that are not there yet.
  void keep_room_for_like(const PodPtr& pod, const NodeRecordPtr& node) {
    auto sample = std::make_shared<model::Pod>(*pod);
    sample->meta.name = sample->meta.uid = "kept";
    sample->spec.node_name.clear();
    sample->spec.volumes.clear();  // what they attach is said apart
    sample->spec.containers.front().ports.clear();
    problem_.kept.push_back({.target = node->name(),
                             .pod_uid = {},
                             .requests = model::multiplied(effective_requests(*sample), 2),
                             .sample = sample,
                             .pods = 2});
  }

  std::mt19937 random_;
  Problem problem_;
  std::shared_ptr<Snapshot> snapshot_;
};

scheduling::VolumeCounts random_limit(std::mt19937& random) {
  return {{"disk.example.com", 1 + static_cast<std::int32_t>(random() % 3)}};
}

// Every second pod gets a volume of its own.
void add_own_volumes(Problem& problem, Snapshot& snapshot, std::mt19937& random) {
  for (auto& pod : problem.pods) {
    if (random() % 2 == 0) {
      continue;
    }
    auto claim = std::make_shared<model::PersistentVolumeClaim>();
    claim->meta.name = "own-" + pod->meta.uid;
    claim->meta.namespace_ = pod->meta.namespace_;
    claim->storage_class = "late";
    snapshot.volume_claims.push_back(claim);
    auto changed = std::make_shared<model::Pod>(*pod);
    changed->spec.volumes.push_back({.name = "own", .claim_name = claim->meta.name});
    pod = changed;
  }
}

}  // namespace

scheduling::Problem random_world(std::uint32_t seed) {
  return World(seed).make();
}

scheduling::Problem random_world_with_volume_limits(std::uint32_t seed) {
  Problem problem = random_world(seed);
  std::mt19937 random(seed);
  auto snapshot = std::make_shared<Snapshot>(*problem.cluster);
  add_own_volumes(problem, *snapshot, random);
  scheduling::VolumeLimits learned;
  auto types = std::make_shared<std::vector<InstanceType>>(*problem.pools.front().types);
  for (auto& type : *types) {
    if (random() % 2 == 0) {
      type.volume_limits = random_limit(random);
    }
    if (random() % 4 == 0) {
      learned[type.name] = random_limit(random);
    }
  }
  for (auto& option : problem.pools) {
    option.types = types;
  }
  snapshot->volume_limits = std::make_shared<const scheduling::VolumeLimits>(std::move(learned));
  problem.cluster = std::move(snapshot);
  return problem;
}

}  // namespace millwright::checker
