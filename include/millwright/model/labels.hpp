// The names of labels, annotations, taints, finalizers and condition types: Kubernetes',
// Karpenter's and Millwright's own.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace millwright::model {

using StringMap = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
inline constexpr std::string_view kArchLabel = "kubernetes.io/arch";
inline constexpr std::string_view kOsLabel = "kubernetes.io/os";
inline constexpr std::string_view kInstanceTypeLabel = "node.kubernetes.io/instance-type";
inline constexpr std::string_view kWindowsBuildLabel = "node.kubernetes.io/windows-build";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kExcludeBalancersLabel =
    "node.kubernetes.io/exclude-from-external-load-balancers";

inline constexpr std::string_view kKarpenterDomain = "karpenter.sh";
inline constexpr std::string_view kNodePoolLabel = "karpenter.sh/nodepool";
inline constexpr std::string_view kCapacityTypeLabel = "karpenter.sh/capacity-type";
inline constexpr std::string_view kInitializedLabel = "karpenter.sh/initialized";
inline constexpr std::string_view kRegisteredLabel = "karpenter.sh/registered";
inline constexpr std::string_view kDoNotSyncTaintsLabel = "karpenter.sh/do-not-sync-taints";

inline constexpr std::string_view kOnDemand = "on-demand";
inline constexpr std::string_view kSpot = "spot";
inline constexpr std::string_view kReserved = "reserved";

inline constexpr std::string_view kDoNotDisruptAnnotation = "karpenter.sh/do-not-disrupt";
inline constexpr std::string_view kNodePoolHashAnnotation = "karpenter.sh/nodepool-hash";
inline constexpr std::string_view kNodePoolHashVersionAnnotation =
    "karpenter.sh/nodepool-hash-version";
inline constexpr std::string_view kTerminationTimestampAnnotation =
    "karpenter.sh/nodeclaim-termination-timestamp";
inline constexpr std::string_view kMinValuesRelaxedAnnotation =
    "karpenter.sh/nodeclaim-min-values-relaxed";

inline constexpr std::string_view kTerminationFinalizer = "karpenter.sh/termination";

inline constexpr std::string_view kDisruptedTaint = "karpenter.sh/disrupted";        // NoSchedule
inline constexpr std::string_view kUnregisteredTaint = "karpenter.sh/unregistered";  // NoExecute

// Millwright's own. Reservations and fences are written to objects too, so that every replica
// answers alike and a restart forgets nothing (docs/architecture.md).
inline constexpr std::string_view kReservationsAnnotation = "millwright.io/reservations";
inline constexpr std::string_view kFenceAnnotation = "millwright.io/fence";
// Changing it on a pod makes kube-scheduler try that pod again at once.
inline constexpr std::string_view kKickAnnotation = "millwright.io/kick";
// On a pod or its PriorityClass, a duration: for so long a node is bought rather than that pods of
// lower priority are evicted for it.
inline constexpr std::string_view kProvisionInsteadOfPreemptAnnotation =
    "millwright.io/provision-instead-of-preempt";
// On a NodePool, a number: what each of its nodes costs per hour beside its instance.
inline constexpr std::string_view kNodeOverheadAnnotation = "millwright.io/node-overhead";
// On a NodePool, a number: its NodeClaims list no instance type that costs more than so many times
// the cheapest.
inline constexpr std::string_view kMaxPriceRatioAnnotation = "millwright.io/max-price-ratio";
// On a NodePool: when its nodes may go (docs/disruption.md).
inline constexpr std::string_view kDisruptionWindowsAnnotation = "millwright.io/disruption-windows";
inline constexpr std::string_view kExpirationWindowsAnnotation = "millwright.io/expiration-windows";
inline constexpr std::string_view kMinNodeAgeAnnotation =
    "millwright.io/consolidation-min-node-age";
inline constexpr std::string_view kMinPodAgeAnnotation = "millwright.io/consolidation-min-pod-age";
inline constexpr std::string_view kMinSavingsAnnotation = "millwright.io/consolidation-min-savings";
inline constexpr std::string_view kMaxUtilizationAnnotation =
    "millwright.io/consolidation-max-utilization";
// On a NodePool: node repair keeps to the pool's disruption budgets.
inline constexpr std::string_view kRepairWithinBudgetsAnnotation =
    "millwright.io/repair-within-budgets";
// The legacy name of karpenter.sh/nodepool: pods written for Provisioners select by it.
inline constexpr std::string_view kProvisionerNameLabel = "karpenter.sh/provisioner-name";
inline constexpr std::string_view kLegacyOwnerLabel = "millwright.io/legacy-provisioner";

// The well-known label keys a NodePool need not define because instance types do. Providers add
// their own with register_well_known_label() at start-up, before any other thread runs.
bool is_well_known_label(std::string_view key);
void register_well_known_label(std::string_view key);
// Deprecated keys (beta labels, the legacy provisioner-name) to their stable names, and the zone
// keys of CSI drivers, which name the zones of a volume, to that of the zone; others unchanged.
std::string_view normalized_label_key(std::string_view key);
// karpenter.sh and its sub-domains (and what providers restrict), unless well known;
// kubernetes.io/hostname too.
bool is_restricted_label(std::string_view key);
void register_restricted_domain(std::string_view domain);

// "a.example.com/b" syntax (optional prefix, name of at most 63); the reason when it is not.
std::string qualified_name_problem(std::string_view key);
std::string label_value_problem(std::string_view value);

}  // namespace millwright::model
