// The messages of the protobuf form of API objects that typed clients send (kubectl create, drain):
// one per line group, "<message> <field>:<number>:<type> ...". Names and numbers are those of
// k8s.io/api and k8s.io/apimachinery.
//
// Types: s string, y bytes, b bool and i integer whose zero means absent, B and I whose zero
// counts,
// - ignored, a message name, * before a repeated one, % before the value type of a map by string.
#include "sandbox/apiserver/showing/protobuf.hpp"

namespace millwright::sandbox {

std::string_view protobuf_schema() {
  return R"(
Affinity nodeAffinity:1:NodeAffinity podAffinity:2:PodAffinity podAntiAffinity:3:PodAntiAffinity
Binding metadata:1:ObjectMeta target:2:ObjectReference
Capabilities add:1:*s drop:2:*s
ConfigMap metadata:1:ObjectMeta immutable:4:B data:2:%s binaryData:3:%y
Container name:1:s image:2:s command:3:*s args:4:*s workingDir:5:s ports:6:*ContainerPort
  env:7:*EnvVar resources:8:ResourceRequirements restartPolicy:24:s volumeMounts:9:*VolumeMount
  terminationMessagePath:13:s terminationMessagePolicy:20:s imagePullPolicy:14:s
  securityContext:15:SecurityContext stdin:16:b stdinOnce:17:b tty:18:b
ContainerPort name:1:s hostPort:2:i containerPort:3:i protocol:4:s hostIP:5:s
DeleteOptions gracePeriodSeconds:1:I preconditions:2:Preconditions orphanDependents:3:B
  propagationPolicy:4:s dryRun:5:*s ignoreStoreReadErrorWithClusterBreakingPotential:6:B
Deployment metadata:1:ObjectMeta spec:2:DeploymentSpec status:3:-
DeploymentSpec replicas:1:I selector:2:LabelSelector template:3:PodTemplateSpec
  strategy:4:DeploymentStrategy minReadySeconds:5:i revisionHistoryLimit:6:I paused:7:b
  progressDeadlineSeconds:9:I
DeploymentStrategy type:1:s rollingUpdate:2:RollingUpdateDeployment
EnvVar name:1:s value:2:s
Event metadata:1:ObjectMeta involvedObject:2:ObjectReference reason:3:s message:4:s
  source:5:EventSource firstTimestamp:6:Time lastTimestamp:7:Time count:8:i type:9:s
  eventTime:10:MicroTime series:11:EventSeries action:12:s related:13:ObjectReference
  reportingComponent:14:s reportingInstance:15:s
EventSeries count:1:i lastObservedTime:2:MicroTime
EventSource component:1:s host:2:s
Eviction metadata:1:ObjectMeta deleteOptions:2:DeleteOptions
Job metadata:1:ObjectMeta spec:2:JobSpec status:3:-
JobSpec parallelism:1:I completions:2:I activeDeadlineSeconds:3:I backoffLimit:7:I
  backoffLimitPerIndex:12:I maxFailedIndexes:13:I selector:4:LabelSelector manualSelector:5:B
  template:6:PodTemplateSpec ttlSecondsAfterFinished:8:I completionMode:9:s suspend:10:B
  podReplacementPolicy:14:s managedBy:15:s
LabelSelector matchLabels:1:%s matchExpressions:2:*LabelSelectorRequirement
LabelSelectorRequirement key:1:s operator:2:s values:3:*s
Lease metadata:1:ObjectMeta spec:2:LeaseSpec
LeaseSpec holderIdentity:1:s leaseDurationSeconds:2:I acquireTime:3:MicroTime
  renewTime:4:MicroTime leaseTransitions:5:I strategy:6:s preferredHolder:7:s
LocalObjectReference name:1:s
Namespace metadata:1:ObjectMeta spec:2:NamespaceSpec status:3:-
NamespaceSpec finalizers:1:*s
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:1:NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution:2:*PreferredSchedulingTerm
NodeSelector nodeSelectorTerms:1:*NodeSelectorTerm
NodeSelectorRequirement key:1:s operator:2:s values:3:*s
NodeSelectorTerm matchExpressions:1:*NodeSelectorRequirement
  matchFields:2:*NodeSelectorRequirement
ObjectMeta name:1:s generateName:2:s namespace:3:s selfLink:4:s uid:5:s resourceVersion:6:s
  generation:7:i creationTimestamp:8:Time deletionTimestamp:9:Time
  deletionGracePeriodSeconds:10:I labels:11:%s annotations:12:%s
  ownerReferences:13:*OwnerReference finalizers:14:*s managedFields:17:-
ObjectReference kind:1:s namespace:2:s name:3:s uid:4:s apiVersion:5:s resourceVersion:6:s
  fieldPath:7:s
OwnerReference apiVersion:5:s kind:1:s name:3:s uid:4:s controller:6:B blockOwnerDeletion:7:B
Pod metadata:1:ObjectMeta spec:2:PodSpec status:3:-
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm
PodAffinityTerm labelSelector:1:LabelSelector namespaces:2:*s topologyKey:3:s
  namespaceSelector:4:LabelSelector matchLabelKeys:5:*s mismatchLabelKeys:6:*s
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm
PodDisruptionBudget metadata:1:ObjectMeta spec:2:PodDisruptionBudgetSpec status:3:-
PodDisruptionBudgetSpec minAvailable:1:IntOrString selector:2:LabelSelector
  maxUnavailable:3:IntOrString unhealthyPodEvictionPolicy:4:s
PodReadinessGate conditionType:1:s
PodSchedulingGate name:1:s
PodSecurityContext runAsUser:2:I runAsGroup:6:I runAsNonRoot:3:B supplementalGroups:4:*i
  supplementalGroupsPolicy:12:s fsGroup:5:I sysctls:7:*Sysctl fsGroupChangePolicy:9:s
  seLinuxChangePolicy:13:s
PodSpec initContainers:20:*Container containers:2:*Container restartPolicy:3:s
  terminationGracePeriodSeconds:4:I activeDeadlineSeconds:5:I dnsPolicy:6:s nodeSelector:7:%s
  serviceAccountName:8:s serviceAccount:9:s automountServiceAccountToken:21:B nodeName:10:s
  hostNetwork:11:b hostPID:12:b hostIPC:13:b shareProcessNamespace:27:B
  securityContext:14:PodSecurityContext imagePullSecrets:15:*LocalObjectReference hostname:16:s
  subdomain:17:s affinity:18:Affinity schedulerName:19:s tolerations:22:*Toleration
  priorityClassName:24:s priority:25:I readinessGates:28:*PodReadinessGate runtimeClassName:29:s
  enableServiceLinks:30:B preemptionPolicy:31:s overhead:32:%Quantity
  topologySpreadConstraints:33:*TopologySpreadConstraint setHostnameAsFQDN:35:B hostUsers:37:B
  schedulingGates:38:*PodSchedulingGate resources:40:ResourceRequirements hostnameOverride:41:s
PodTemplateSpec metadata:1:ObjectMeta spec:2:PodSpec
Preconditions uid:1:s
PreferredSchedulingTerm weight:1:i preference:2:NodeSelectorTerm
PriorityClass metadata:1:ObjectMeta value:2:i globalDefault:3:b description:4:s
  preemptionPolicy:5:s
ResourceClaim name:1:s request:2:s
ResourceRequirements limits:1:%Quantity requests:2:%Quantity claims:3:*ResourceClaim
RollingUpdateDeployment maxUnavailable:1:IntOrString maxSurge:2:IntOrString
Secret metadata:1:ObjectMeta immutable:5:B data:2:%y stringData:4:%s type:3:s
SecurityContext capabilities:1:Capabilities privileged:2:B runAsUser:4:I runAsGroup:8:I
  runAsNonRoot:5:B readOnlyRootFilesystem:6:B allowPrivilegeEscalation:7:B procMount:9:s
Service metadata:1:ObjectMeta spec:2:ServiceSpec status:3:-
ServiceAccount metadata:1:ObjectMeta secrets:2:*ObjectReference
  imagePullSecrets:3:*LocalObjectReference automountServiceAccountToken:4:B
ServicePort name:1:s protocol:2:s appProtocol:6:s port:3:i targetPort:4:IntOrString nodePort:5:i
ServiceSpec ports:1:*ServicePort selector:2:%s clusterIP:3:s clusterIPs:18:*s type:4:s
  externalIPs:5:*s sessionAffinity:7:s loadBalancerIP:8:s loadBalancerSourceRanges:9:*s
  externalName:10:s externalTrafficPolicy:11:s healthCheckNodePort:12:i
  publishNotReadyAddresses:13:b ipFamilies:19:*s ipFamilyPolicy:17:s
  allocateLoadBalancerNodePorts:20:B loadBalancerClass:21:s internalTrafficPolicy:22:s
  trafficDistribution:23:s
Sysctl name:1:s value:2:s
Toleration key:1:s operator:2:s value:3:s effect:4:s tolerationSeconds:5:I
TopologySpreadConstraint maxSkew:1:i topologyKey:2:s whenUnsatisfiable:3:s
  labelSelector:4:LabelSelector minDomains:5:I nodeAffinityPolicy:6:s nodeTaintsPolicy:7:s
  matchLabelKeys:8:*s
VolumeMount name:1:s readOnly:2:b recursiveReadOnly:7:s mountPath:3:s subPath:4:s
  mountPropagation:5:s subPathExpr:6:s
WeightedPodAffinityTerm weight:1:i podAffinityTerm:2:PodAffinityTerm
)";
}

}  // namespace millwright::sandbox
