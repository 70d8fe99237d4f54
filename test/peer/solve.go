package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
)

// plan is what goes out: claims with their pods, pods on nodes, pods without a place.
type plan struct {
	File             string            `json:"file"`
	ConstructSeconds float64           `json:"construct_seconds"`
	SolveSeconds     float64           `json:"solve_seconds"`     // the median of all rounds
	SolveCPUSeconds  float64           `json:"solve_cpu_seconds"` // the same, of all threads
	Rounds           int               `json:"rounds"`
	Claims           []claim           `json:"claims"`
	Placements       map[string]string `json:"placements"` // pod to existing node
	Refusals         map[string]string `json:"refusals"`   // pod to error
}

type claim struct {
	NodePool      string                                    `json:"node_pool"`
	InstanceTypes []string                                  `json:"instance_types"` // cheapest first
	Requirements  []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Requests      corev1.ResourceList                       `json:"requests"`
	Labels        map[string]string                         `json:"labels"`
	Pods          []string                                  `json:"pods"` // in the order they were added
}

// solve decides the pending pods of the world. What Karpenter's provisioner does before Solve
// (validation, volume topology, topology counts, DaemonSets) is done through the provisioner too,
// but is not part of the time of Solve; nor is reading the file.
func (w *world) solve(workers int, atLeast time.Duration) (*plan, error) {
	ctx, err := w.context()
	if err != nil {
		return nil, err
	}
	scheduling.MaxInstanceTypes = w.maxInstanceTypes
	kube := newStore(w.objects)
	cloud := &provider{of: w}
	cluster := state.NewCluster(clock.RealClock{}, kube, cloud)
	if err := w.fill(ctx, cluster); err != nil {
		return nil, err
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	allocated := deviceallocation.NewController(kube)
	allocated.Hydrate(ctx)
	provisioner := provisioning.NewProvisioner(kube, recorder, cloud, cluster, clock.RealClock{}, allocated, nil)

	result := &plan{Refusals: map[string]string{}, Placements: map[string]string{}, Claims: []claim{}}
	pods := w.toPlan(ctx, provisioner, cluster, result.Refusals)
	var constructs, solves, cpus []time.Duration
	for sum := time.Duration(0); len(solves) == 0 || sum < atLeast; sum += solves[len(solves)-1] {
		mine := lo.Map(pods, func(p *corev1.Pod, _ int) *corev1.Pod { return p.DeepCopy() })
		runtime.GC()
		begin := time.Now()
		scheduler, err := provisioner.NewScheduler(ctx, mine, cluster.DeepCopyNodes().Active(),
			w.moving(cluster), w.options(workers)...)
		if errors.Is(err, provisioning.ErrNodePoolsNotFound) {
			for _, pod := range pods {
				result.Refusals[string(pod.UID)] = "no dynamic nodepools found"
			}
			return result, nil
		}
		if err != nil {
			return nil, err
		}
		constructs = append(constructs, time.Since(begin))
		beginCPU := cpuTime()
		begin = time.Now()
		results, err := scheduler.Solve(ctx, mine)
		solves = append(solves, time.Since(begin))
		cpus = append(cpus, cpuTime()-beginCPU)
		if err != nil {
			return nil, err
		}
		if len(solves) == 1 {
			result.take(results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes))
		}
	}
	result.ConstructSeconds = median(constructs)
	result.SolveSeconds = median(solves)
	result.SolveCPUSeconds = median(cpus)
	result.Rounds = len(solves)
	return result, nil
}

func (w *world) context(more ...string) (context.Context, error) {
	flags := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.ContinueOnError)}
	karpenter := &options.Options{}
	karpenter.AddFlags(flags)
	arguments := append([]string{"--preference-policy", lo.CoalesceOrEmpty(w.preferencePolicy, "Respect"),
		"--min-values-policy", lo.CoalesceOrEmpty(w.minValuesPolicy, "Strict"),
		"--ignore-dra-requests=" + strconv.FormatBool(!w.resourceClaims),
		"--scheduler-config", w.schedulerConfig}, more...)
	if err := karpenter.Parse(flags, arguments...); err != nil {
		return nil, err
	}
	ctx := injection.WithControllerName(context.Background(), "provisioner")
	return options.ToContext(ctx, karpenter), nil
}

func (w *world) options(workers int) []scheduling.Options {
	result := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(workers),
		scheduling.MinValuesPolicy(options.MinValuesPolicy(lo.CoalesceOrEmpty(w.minValuesPolicy, "Strict"))),
	}
	if w.preferencePolicy == "Ignore" {
		result = append(result, scheduling.IgnorePreferences)
	}
	return result
}

// fill makes the cluster state that informers would have made.
func (w *world) fill(ctx context.Context, cluster *state.Cluster) error {
	for _, object := range w.objects {
		if it, ok := object.(*v1.NodeClaim); ok {
			cluster.UpdateNodeClaim(it)
		}
	}
	for _, object := range w.objects {
		if it, ok := object.(*corev1.Node); ok {
			if err := cluster.UpdateNode(ctx, it); err != nil {
				return err
			}
		}
	}
	for _, object := range w.objects {
		if it, ok := object.(*corev1.Pod); ok {
			if err := cluster.UpdatePod(ctx, it); err != nil {
				return fmt.Errorf("pod %s: %w", it.Name, err)
			}
		}
	}
	return nil
}

// toPlan is what Karpenter's Schedule works on: valid pending pods, and those of leaving nodes.
func (w *world) toPlan(ctx context.Context, provisioner *provisioning.Provisioner, cluster *state.Cluster,
	refusals map[string]string) []*corev1.Pod {
	var result []*corev1.Pod
	for _, pod := range w.pods {
		if err := provisioner.Validate(ctx, pod); err != nil {
			refusals[string(pod.UID)] = "ignoring pod, " + err.Error()
			continue
		}
		result = append(result, pod)
	}
	moving := w.moving(cluster)
	for _, object := range w.objects {
		if pod, ok := object.(*corev1.Pod); ok && moving.Has(pod.UID) {
			result = append(result, pod)
		}
	}
	return result
}

// moving are the pods that will be evicted from leaving nodes.
func (w *world) moving(cluster *state.Cluster) sets.Set[types.UID] {
	leaving := sets.New[string]()
	for node := range cluster.Nodes() {
		if node.MarkedForDeletion() {
			leaving.Insert(node.Name())
		}
	}
	result := sets.New[types.UID]()
	for _, object := range w.objects {
		if pod, ok := object.(*corev1.Pod); ok && leaving.Has(pod.Spec.NodeName) && podutils.IsReschedulable(pod) {
			result.Insert(pod.UID)
		}
	}
	return result
}

func (p *plan) take(results scheduling.Results) {
	for _, made := range results.NewNodeClaims {
		kube := made.ToNodeClaim()
		requirement, _ := lo.Find(kube.Spec.Requirements, func(item v1.NodeSelectorRequirementWithMinValues) bool {
			return item.Key == corev1.LabelInstanceTypeStable
		})
		p.Claims = append(p.Claims, claim{
			NodePool:      made.NodePoolName,
			InstanceTypes: requirement.Values,
			Requirements:  kube.Spec.Requirements,
			Requests:      kube.Spec.Resources.Requests,
			Labels:        kube.Labels,
			Pods:          lo.Map(made.Pods, func(pod *corev1.Pod, _ int) string { return string(pod.UID) }),
		})
	}
	sort.Slice(p.Claims, func(a, b int) bool { return slices.Compare(p.Claims[a].Pods, p.Claims[b].Pods) < 0 })
	for _, node := range results.ExistingNodes {
		for _, pod := range node.Pods {
			p.Placements[string(pod.UID)] = node.Name()
		}
	}
	for pod, err := range results.PodErrors {
		p.Refusals[string(pod.UID)] = err.Error()
	}
}

// cpuTime is what all threads have used, the garbage collector's too.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	lo.Must0(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median(of []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[int(math.Floor(float64(len(sorted))/2))].Seconds()
}
