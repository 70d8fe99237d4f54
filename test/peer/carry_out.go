package main

import (
	"fmt"
	"slices"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	disruptionutils "sigs.k8s.io/karpenter/pkg/utils/disruption"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
)

func (w *world) claims() []*v1.NodeClaim {
	return lo.FilterMap(w.objects, func(object client.Object, _ int) (*v1.NodeClaim, bool) {
		claim, ok := object.(*v1.NodeClaim)
		return claim, ok
	})
}

// price is what the nodes of all claims cost per hour.
func (w *world) price() float64 {
	byName := lo.KeyBy(w.types, func(item *cloudprovider.InstanceType) string { return item.Name })
	return lo.SumBy(w.claims(), func(claim *v1.NodeClaim) float64 {
		return disruptionutils.ResolveOfferingPrice(claim.Labels, byName[claim.Labels[corev1.LabelInstanceTypeStable]])
	})
}

// carryOut makes the world one in which the command is done: its nodes are gone, what it buys is
// there, and pods are where it had them.
func (w *world) carryOut(what *decision) (*removal, error) {
	going := lo.SliceToMap(what.command.Candidates, func(c *disruption.Candidate) (string, bool) {
		return c.Name(), true
	})
	result := &removal{
		Method:        what.method,
		Candidates:    what.candidates,
		Nodes:         lo.Keys(going),
		InstanceTypes: []string{},
		Placements:    map[string]string{},
	}
	slices.Sort(result.Nodes)
	places := map[types.UID]string{}
	for _, node := range what.command.Results.ExistingNodes {
		for _, pod := range node.Pods {
			places[pod.UID] = node.Name()
		}
	}
	var bought []client.Object
	for _, replacement := range what.command.Replacements {
		name, objects := w.buy(replacement.NodeClaim)
		bought = append(bought, objects...)
		for _, pod := range replacement.Pods {
			places[pod.UID] = name
		}
		for _, option := range replacement.InstanceTypeOptions {
			result.InstanceTypes = append(result.InstanceTypes, option.Name)
		}
	}
	var left []client.Object
	for _, object := range w.objects {
		switch it := object.(type) {
		case *corev1.Node, *v1.NodeClaim: // they have the same name
			if going[it.GetName()] {
				continue
			}
		case *corev1.Pod:
			if !going[it.Spec.NodeName] {
				break
			}
			if !podutils.IsReschedulable(it) {
				continue
			}
			place, ok := places[it.UID]
			if !ok {
				return nil, fmt.Errorf("the command has no place for pod %s of node %s", it.Name, it.Spec.NodeName)
			}
			moved := it.DeepCopy()
			moved.Spec.NodeName = place
			result.Placements[it.Name] = place
			left = append(left, moved)
			continue
		}
		left = append(left, object)
	}
	w.objects = append(left, bought...)
	w.bringToRest()
	result.PriceAfter = w.price()
	return result, nil
}

// buy takes the cheapest offering that the claim admits. The objects are its node, its claim, and
// the node's DaemonSet pods: the DaemonSets of these files want to run on every node.
func (w *world) buy(planned *scheduling.NodeClaim) (string, []client.Object) {
	kind, offering := cheapest(planned)
	w.bought++
	name := fmt.Sprintf("replacement-%d", w.bought)
	claim := planned.ToNodeClaim()
	labels := lo.Assign(claim.Labels, map[string]string{
		corev1.LabelInstanceTypeStable: kind.Name,
		corev1.LabelHostname:           name,
	})
	for _, requirements := range []map[string]string{singleValues(kind), offering} {
		labels = lo.Assign(labels, requirements)
	}
	claim.ObjectMeta = metav1.ObjectMeta{
		Name:              name,
		UID:               types.UID(name),
		Labels:            labels,
		Annotations:       claim.Annotations,
		CreationTimestamp: metav1.NewTime(w.now().AddDate(0, 0, -1)),
	}
	claim.Status.ProviderID = "peer:///" + name
	claim.Status.NodeName = name
	claim.Status.Capacity = kind.Capacity
	claim.Status.Allocatable = kind.Allocatable()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			UID:  types.UID(name),
			Labels: lo.Assign(labels, map[string]string{
				v1.NodeRegisteredLabelKey:  "true",
				v1.NodeInitializedLabelKey: "true",
			}),
			CreationTimestamp: claim.CreationTimestamp,
		},
		Spec: corev1.NodeSpec{ProviderID: claim.Status.ProviderID},
		Status: corev1.NodeStatus{
			Capacity:    claim.Status.Capacity,
			Allocatable: claim.Status.Allocatable,
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	objects := []client.Object{claim, node}
	for _, object := range w.objects {
		if set, ok := object.(*appsv1.DaemonSet); ok {
			objects = append(objects, daemonPod(set, name))
		}
	}
	return name, objects
}

func daemonPod(set *appsv1.DaemonSet, node string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      set.Name + "-" + node,
			Namespace: set.Namespace,
			UID:       types.UID(set.Name + "-" + node),
			Labels:    set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "DaemonSet", Name: set.Name, UID: set.UID, Controller: ptr.To(true)}},
		},
		Spec:   *set.Spec.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	pod.Spec.NodeName = node
	return pod
}

// cheapest gives the type and the labels of the offering.
func cheapest(planned *scheduling.NodeClaim) (*cloudprovider.InstanceType, map[string]string) {
	var kind *cloudprovider.InstanceType
	var best *cloudprovider.Offering
	for _, option := range planned.InstanceTypeOptions {
		for _, offering := range option.Offerings.Available().Compatible(planned.Requirements) {
			if best == nil || offering.Price < best.Price {
				kind, best = option, offering
			}
		}
	}
	return kind, map[string]string{
		corev1.LabelTopologyZone: best.Zone(),
		v1.CapacityTypeLabelKey:  best.CapacityType(),
	}
}

// singleValues are the labels that every node of the type has.
func singleValues(kind *cloudprovider.InstanceType) map[string]string {
	result := map[string]string{}
	for key, requirement := range kind.Requirements {
		if requirement.Operator() == corev1.NodeSelectorOpIn && requirement.Len() == 1 {
			result[key] = requirement.Values()[0]
		}
	}
	return result
}
