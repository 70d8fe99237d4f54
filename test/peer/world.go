package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

const replicasAnnotation = "scenario/replicas"

// world is what one file says.
type world struct {
	types            []*cloudprovider.InstanceType
	pools            []*v1.NodePool
	pods             []*corev1.Pod // neither bound nor terminal
	objects          []client.Object
	preferencePolicy string
	minValuesPolicy  string
	maxInstanceTypes int
	schedulerConfig  string // default spread constraints, as --scheduler-config takes them
	bought           int    // nodes in place of others
	resourceClaims   bool   // pods with such claims are planned, not refused
	foreseen         []foreseen
}

// scenarioDocument is the first document of a file.
type scenarioDocument struct {
	Types              []typeDocument  `json:"types"`
	PreferencePolicy   string          `json:"preferencePolicy"`
	MinValuesPolicy    string          `json:"minValuesPolicy"`
	MaxInstanceTypes   int             `json:"maxInstanceTypes"`
	ResourceClaims     bool            `json:"resourceClaims"`
	DefaultConstraints json.RawMessage `json:"defaultConstraints"`
}

func readWorld(file string) (*world, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents, err := split(file, text)
	if err != nil {
		return nil, err
	}
	w := &world{maxInstanceTypes: 600}
	resetLabels()
	for i, document := range documents {
		if err := w.take(document); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
	}
	if w.types == nil {
		w.types = threeSizes()
	}
	if len(w.pools) == 0 {
		pool := &v1.NodePool{}
		pool.Name = "default"
		w.addPool(pool)
	}
	w.linkNodes()
	w.linkDevices()
	return w, nil
}

// split gives the documents as JSON: .jsonl has one a line, anything else is YAML.
func split(file string, text []byte) ([][]byte, error) {
	var result [][]byte
	if strings.HasSuffix(file, ".jsonl") {
		for _, line := range bytes.Split(text, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				result = append(result, line)
			}
		}
		return result, nil
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		part, err := reader.Read()
		if err == io.EOF {
			return result, nil
		}
		if err != nil {
			return nil, err
		}
		document, err := yaml.YAMLToJSON(part)
		if err != nil {
			return nil, err
		}
		if string(document) != "null" {
			result = append(result, document)
		}
	}
}

func (w *world) take(document []byte) error {
	var head metav1.TypeMeta
	if err := json.Unmarshal(document, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "Scenario":
		var scenario scenarioDocument
		if err := json.Unmarshal(document, &scenario); err != nil {
			return err
		}
		return w.takeScenario(scenario)
	case "Pod":
		return w.takePod(document)
	case "NodePool":
		pool := &v1.NodePool{}
		if err := json.Unmarshal(document, pool); err != nil {
			return err
		}
		w.addPool(pool)
		return nil
	case "DRAConfig":
		w.resourceClaims = true
		return w.takeDeviceConfig(document)
	}
	object := emptyObject(head.Kind)
	if object == nil {
		return fmt.Errorf("a scenario cannot have a %s", head.Kind)
	}
	if err := json.Unmarshal(document, object); err != nil {
		return err
	}
	if object.GetNamespace() == "" && isNamespaced(object) {
		object.SetNamespace("default")
	}
	object.SetUID(types.UID(object.GetName()))
	w.resourceClaims = w.resourceClaims || isOfDevices(object)
	w.objects = append(w.objects, object)
	return nil
}

func emptyObject(kind string) client.Object {
	switch kind {
	case "Node":
		return &corev1.Node{}
	case "NodeClaim":
		return &v1.NodeClaim{}
	case "Namespace":
		return &corev1.Namespace{}
	case "DaemonSet":
		return &appsv1.DaemonSet{}
	case "PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "PersistentVolume":
		return &corev1.PersistentVolume{}
	case "StorageClass":
		return &storagev1.StorageClass{}
	case "CSINode":
		return &storagev1.CSINode{}
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "Service":
		return &corev1.Service{}
	case "ReplicationController":
		return &corev1.ReplicationController{}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{}
	case "StatefulSet":
		return &appsv1.StatefulSet{}
	case "DeviceClass":
		return &resourcev1.DeviceClass{}
	case "ResourceClaim":
		return &resourcev1.ResourceClaim{}
	case "ResourceClaimTemplate":
		return &resourcev1.ResourceClaimTemplate{}
	case "ResourceSlice":
		return &resourcev1.ResourceSlice{}
	}
	return nil
}

func isOfDevices(object client.Object) bool {
	switch object.(type) {
	case *resourcev1.DeviceClass, *resourcev1.ResourceClaim, *resourcev1.ResourceClaimTemplate, *resourcev1.ResourceSlice:
		return true
	}
	return false
}

func isNamespaced(object client.Object) bool {
	switch object.(type) {
	case *appsv1.DaemonSet, *corev1.PersistentVolumeClaim, *policyv1.PodDisruptionBudget, *corev1.Service,
		*corev1.ReplicationController, *appsv1.ReplicaSet, *appsv1.StatefulSet,
		*resourcev1.ResourceClaim, *resourcev1.ResourceClaimTemplate:
		return true
	}
	return false
}

func (w *world) takeScenario(scenario scenarioDocument) error {
	for _, item := range scenario.Types {
		made, err := item.build()
		if err != nil {
			return err
		}
		w.types = append(w.types, made)
	}
	w.preferencePolicy = scenario.PreferencePolicy
	w.minValuesPolicy = scenario.MinValuesPolicy
	w.resourceClaims = w.resourceClaims || scenario.ResourceClaims
	if len(scenario.DefaultConstraints) != 0 {
		w.schedulerConfig = `{"podTopologySpread":{"defaultConstraints":` + string(scenario.DefaultConstraints) + `}}`
	}
	if scenario.MaxInstanceTypes != 0 {
		w.maxInstanceTypes = scenario.MaxInstanceTypes
	}
	return nil
}

// addPool fills in what the API server and Karpenter's NodePool controllers would have.
func (w *world) addPool(pool *v1.NodePool) {
	if pool.Spec.Template.Spec.NodeClassRef == nil {
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{
			Group: nodeClassGroup, Kind: nodeClassKind, Name: "default"}
	}
	ready := true
	for _, condition := range pool.Status.Conditions {
		ready = ready && (condition.Type != status.ConditionReady || condition.Status == metav1.ConditionTrue)
	}
	if ready {
		conditions := pool.StatusConditions()
		conditions.SetTrue(v1.ConditionTypeValidationSucceeded)
		conditions.SetTrue(v1.ConditionTypeNodeClassReady)
	}
	pool.UID = types.UID(pool.Name)
	w.pools = append(w.pools, pool)
	w.objects = append(w.objects, pool)
}

func (w *world) takePod(document []byte) error {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(document, pod); err != nil {
		return err
	}
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	mergeMatchLabelKeys(pod)
	count := 1
	if text, ok := pod.Annotations[replicasAnnotation]; ok {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	for i := range count {
		one := pod.DeepCopy()
		if count > 1 {
			one.Name = fmt.Sprintf("%s-%d", pod.Name, i)
		}
		one.UID = types.UID(one.Name)
		if one.Spec.NodeName == "" {
			w.pods = append(w.pods, one)
		} else {
			w.objects = append(w.objects, one)
		}
	}
	return nil
}

// mergeMatchLabelKeys does what the API server does when a pod with affinity terms is created.
func mergeMatchLabelKeys(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		return
	}
	merge := func(term *corev1.PodAffinityTerm) {
		if term.LabelSelector == nil {
			return
		}
		add := func(keys []string, operator metav1.LabelSelectorOperator) {
			for _, key := range keys {
				if value, ok := pod.Labels[key]; ok {
					term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions,
						metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
				}
			}
		}
		add(term.MatchLabelKeys, metav1.LabelSelectorOpIn)
		add(term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
	all := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			merge(&required[i])
		}
		for i := range preferred {
			merge(&preferred[i].PodAffinityTerm)
		}
	}
	if a := pod.Spec.Affinity.PodAffinity; a != nil {
		all(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity.PodAntiAffinity; a != nil {
		all(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// linkNodes joins a Node and a NodeClaim of the same name, and adds the labels that a kubelet sets
// and without which Karpenter waits for a node.
func (w *world) linkNodes() {
	for _, object := range w.objects {
		switch it := object.(type) {
		case *corev1.Node:
			if it.Spec.ProviderID == "" {
				it.Spec.ProviderID = "peer:///" + it.Name
			}
			if it.Labels == nil {
				it.Labels = map[string]string{}
			}
			if _, ok := it.Labels[corev1.LabelHostname]; !ok {
				it.Labels[corev1.LabelHostname] = it.Name
			}
			if _, ok := it.Labels[corev1.LabelInstanceTypeStable]; !ok && it.Labels[v1.NodePoolLabelKey] != "" {
				it.Labels[corev1.LabelInstanceTypeStable] = "unknown"
			}
		case *v1.NodeClaim:
			it.Status.ProviderID = "peer:///" + it.Name
			for _, other := range w.objects {
				if node, ok := other.(*corev1.Node); ok && node.Name == it.Name {
					if node.Spec.ProviderID == "" {
						node.Spec.ProviderID = "peer:///" + node.Name
					}
					it.Status.ProviderID = node.Spec.ProviderID
				}
			}
		}
	}
}
