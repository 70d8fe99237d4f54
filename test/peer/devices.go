package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"unique"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dra "sigs.k8s.io/karpenter/dra-kwok-driver/pkg/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling/dynamicresources"
)

// Dynamic resource allocation: what an API server and the controllers of Kubernetes add to such
// objects, and the devices of nodes that are still to come.

// foreseen are devices that nodes with such labels will have: one pool of a DRAConfig.
type foreseen struct {
	terms  []corev1.NodeSelectorTerm
	slices []*cloudprovider.ResourceSliceTemplate
}

// takeDeviceConfig reads the kind that Karpenter's driver for tests reads.
func (w *world) takeDeviceConfig(document []byte) error {
	config := &dra.DRAConfig{}
	if err := json.Unmarshal(document, config); err != nil {
		return err
	}
	for i, pool := range config.Spec.Pools {
		// Devices are told apart by driver, pool and name, so that pools without a name need one.
		name := lo.CoalesceOrEmpty(pool.Name, config.Name+"-"+strconv.Itoa(i))
		w.foreseen = append(w.foreseen, foreseen{
			terms: pool.NodeSelectorTerms,
			slices: lo.Map(pool.ResourceSlices, func(s dra.ResourceSliceTemplate, _ int) *cloudprovider.ResourceSliceTemplate {
				// Karpenter's own reading of a slice: its devices in the form that templates have.
				slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: s.Devices}}
				return &cloudprovider.ResourceSliceTemplate{
					Driver:  unique.Make(config.Spec.Driver),
					Pool:    cloudprovider.ResourcePool{Name: unique.Make(name)},
					Devices: dynamicresources.NewAPIServerSlice(slice).Devices(),
				}
			}),
		})
	}
	return nil
}

// typesOf gives the types of a NodePool the devices that its nodes of each type will have.
func (w *world) typesOf(pool *v1.NodePool) []*cloudprovider.InstanceType {
	if len(w.foreseen) == 0 {
		return w.types
	}
	labels := lo.Assign(pool.Spec.Template.Labels, map[string]string{v1.NodePoolLabelKey: pool.Name})
	return lo.Map(w.types, func(it *cloudprovider.InstanceType, _ int) *cloudprovider.InstanceType {
		node := scheduling.NewRequirements(it.Requirements.Values()...)
		node.Add(scheduling.NewLabelRequirements(labels).Values()...)
		var templates []*cloudprovider.ResourceSliceTemplate
		for _, each := range w.foreseen {
			if slices.ContainsFunc(each.terms, func(term corev1.NodeSelectorTerm) bool {
				return len(term.MatchExpressions) != 0 && len(term.MatchFields) == 0 &&
					node.IsCompatible(scheduling.NewNodeSelectorRequirements(term.MatchExpressions...))
			}) {
				templates = append(templates, each.slices...)
			}
		}
		if len(templates) == 0 {
			return it
		}
		return &cloudprovider.InstanceType{
			Name:             it.Name,
			Requirements:     it.Requirements,
			Offerings:        it.Offerings,
			Capacity:         it.Capacity,
			Overhead:         it.Overhead,
			DynamicResources: cloudprovider.DynamicResources{ResourceSliceTemplates: templates},
		}
	})
}

// linkDevices does what the API server, drivers and the resourceclaim controller do.
func (w *world) linkDevices() {
	templates := map[types.NamespacedName]*resourcev1.ResourceClaimTemplate{}
	for _, object := range w.objects {
		switch it := object.(type) {
		case *resourcev1.ResourceClaim:
			setRequestDefaults(&it.Spec)
		case *resourcev1.ResourceClaimTemplate:
			setRequestDefaults(&it.Spec.Spec)
			templates[client.ObjectKeyFromObject(it)] = it
		case *resourcev1.ResourceSlice:
			// By the owner, Karpenter knows the slices of nodes that leave or still start.
			if it.Spec.NodeName != nil && len(it.OwnerReferences) == 0 {
				it.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node",
					Name: *it.Spec.NodeName, UID: types.UID(*it.Spec.NodeName)}}
			}
		}
	}
	pods := slices.Clone(w.pods)
	for _, object := range w.objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	for _, pod := range pods {
		w.generateClaims(pod, templates)
	}
}

// setRequestDefaults makes one device of what does not say how many.
func setRequestDefaults(spec *resourcev1.ResourceClaimSpec) {
	set := func(mode *resourcev1.DeviceAllocationMode, count *int64) {
		*mode = lo.CoalesceOrEmpty(*mode, resourcev1.DeviceAllocationModeExactCount)
		if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
			*count = 1
		}
	}
	for i := range spec.Devices.Requests {
		request := &spec.Devices.Requests[i]
		if request.Exactly != nil {
			set(&request.Exactly.AllocationMode, &request.Exactly.Count)
		}
		for j := range request.FirstAvailable {
			set(&request.FirstAvailable[j].AllocationMode, &request.FirstAvailable[j].Count)
		}
	}
}

// generateClaims makes the claims of a pod that refers to templates, and says so in its status.
// Without a template there is no claim; in a cluster, such a pod is not offered to any scheduler.
func (w *world) generateClaims(pod *corev1.Pod, templates map[types.NamespacedName]*resourcev1.ResourceClaimTemplate) {
	for _, reference := range pod.Spec.ResourceClaims {
		if reference.ResourceClaimTemplateName == nil {
			continue
		}
		known := slices.ContainsFunc(pod.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool {
			return s.Name == reference.Name
		})
		template, ok := templates[types.NamespacedName{Namespace: pod.Namespace, Name: *reference.ResourceClaimTemplateName}]
		if known || !ok {
			continue
		}
		claim := &resourcev1.ResourceClaim{Spec: *template.Spec.Spec.DeepCopy()}
		claim.Namespace = pod.Namespace
		claim.Name = pod.Name + "-" + reference.Name + "-generated"
		claim.UID = types.UID(claim.Namespace + "/" + claim.Name)
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
			Controller: lo.ToPtr(true), BlockOwnerDeletion: lo.ToPtr(true)}}
		w.objects = append(w.objects, claim)
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses,
			corev1.PodResourceClaimStatus{Name: reference.Name, ResourceClaimName: lo.ToPtr(claim.Name)})
	}
}
