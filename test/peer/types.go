package main

import (
	"encoding/json"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

const reservationID = "provider.example.com/reservation-id"

var builtInLabels = v1.WellKnownLabels.Clone()

func init() {
	cloudprovider.ReservationIDLabel = reservationID
	cloudprovider.ReservedCapacityLabels.Insert(reservationID)
}

// resetLabels forgets what an earlier file made well known.
func resetLabels() {
	v1.WellKnownLabels = builtInLabels.Clone().Insert(reservationID)
}

// text is a scalar, however it was written.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if strings.HasPrefix(string(data), `"`) {
		var value string
		if err := json.Unmarshal(data, &value); err != nil {
			return err
		}
		*t = text(value)
		return nil
	}
	*t = text(data)
	return nil
}

func (t text) or(fallback string) string {
	return lo.CoalesceOrEmpty(string(t), fallback)
}

// labelValues is one value, several, or null: the type lacks the label.
type labelValues []string

func (l *labelValues) UnmarshalJSON(data []byte) error {
	if strings.HasPrefix(string(data), "[") {
		return json.Unmarshal(data, (*[]string)(l))
	}
	var one text
	if err := one.UnmarshalJSON(data); err != nil {
		return err
	}
	*l = labelValues{string(one)}
	return nil
}

type typeDocument struct {
	Name      text                    `json:"name"`
	CPU       text                    `json:"cpu"`
	Memory    text                    `json:"memory"`
	Pods      text                    `json:"pods"`
	Arch      text                    `json:"arch"`
	OS        text                    `json:"os"`
	Labels    map[string]*labelValues `json:"labels"`
	Resources map[string]text         `json:"resources"`
	Overhead  map[string]text         `json:"overhead"`
	Price     *float64                `json:"price"`
	Offerings []offeringDocument      `json:"offerings"`
}

type offeringDocument struct {
	Zone          text            `json:"zone"`
	CapacityType  text            `json:"capacityType"`
	Price         *float64        `json:"price"`
	Available     *bool           `json:"available"`
	Reservation   *int            `json:"reservation"`
	ReservationID text            `json:"reservationId"`
	Capacity      map[string]text `json:"capacity"`
}

func amounts(texts map[string]text) (corev1.ResourceList, error) {
	if texts == nil {
		return nil, nil
	}
	result := corev1.ResourceList{}
	for name, amount := range texts {
		quantity, err := resource.ParseQuantity(string(amount))
		if err != nil {
			return nil, err
		}
		result[corev1.ResourceName(name)] = quantity
	}
	return result, nil
}

func (d typeDocument) build() (*cloudprovider.InstanceType, error) {
	name := d.Name.or("t")
	capacity, err := amounts(lo.Assign(map[string]text{
		"cpu":    text(d.CPU.or("4")),
		"memory": text(d.Memory.or("8Gi")),
		"pods":   text(d.Pods.or("20")),
	}, d.Resources))
	if err != nil {
		return nil, err
	}
	overhead, err := amounts(lo.Ternary(d.Overhead == nil, map[string]text{"cpu": "100m", "memory": "10Mi"}, d.Overhead))
	if err != nil {
		return nil, err
	}
	documents := d.Offerings
	price := 0.1*capacity.Cpu().AsApproximateFloat64() + 0.1e-9*capacity.Memory().AsApproximateFloat64()
	if documents == nil {
		for _, sold := range [][2]text{
			{"test-zone-1", "spot"}, {"test-zone-2", "spot"},
			{"test-zone-1", "on-demand"}, {"test-zone-2", "on-demand"}, {"test-zone-3", "on-demand"}} {
			documents = append(documents, offeringDocument{Zone: sold[0], CapacityType: sold[1]})
		}
	} else {
		price = 1
	}
	price = lo.FromPtrOr(d.Price, price)
	made := &cloudprovider.InstanceType{
		Name:     name,
		Capacity: capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: overhead},
	}
	zones, capacityTypes := sets.New[string](), sets.New[string]()
	for _, document := range documents {
		offering, err := document.build(price)
		if err != nil {
			return nil, err
		}
		zones.Insert(document.Zone.or("test-zone-1"))
		capacityTypes.Insert(document.CapacityType.or("on-demand"))
		made.Offerings = append(made.Offerings, offering)
	}
	made.Requirements = scheduling.NewRequirements(
		scheduling.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, name),
		scheduling.NewRequirement(corev1.LabelArchStable, corev1.NodeSelectorOpIn, d.Arch.or("amd64")),
		scheduling.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, d.OS.or("linux")),
		scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, sets.List(zones)...),
		scheduling.NewRequirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, sets.List(capacityTypes)...),
	)
	for key, values := range d.Labels {
		v1.WellKnownLabels.Insert(key)
		if values == nil {
			made.Requirements[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist)
		} else {
			made.Requirements[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, *values...)
		}
	}
	return made, nil
}

func (d offeringDocument) build(price float64) (*cloudprovider.Offering, error) {
	labels := map[string]string{
		corev1.LabelTopologyZone: d.Zone.or("test-zone-1"),
		v1.CapacityTypeLabelKey:  d.CapacityType.or("on-demand"),
	}
	if d.Reservation != nil {
		labels[reservationID] = d.ReservationID.or("r-1")
	}
	capacity, err := amounts(d.Capacity)
	if err != nil {
		return nil, err
	}
	return &cloudprovider.Offering{
		Requirements:        scheduling.NewLabelRequirements(labels),
		Price:               lo.FromPtrOr(d.Price, price),
		Available:           lo.FromPtrOr(d.Available, true),
		ReservationCapacity: lo.FromPtr(d.Reservation),
		CapacityOverride:    capacity,
	}, nil
}

// threeSizes is what a file without types sells.
func threeSizes() []*cloudprovider.InstanceType {
	return lo.Map([]typeDocument{
		{Name: "small", CPU: "2", Memory: "4Gi", Pods: "20"},
		{Name: "medium", CPU: "4", Memory: "8Gi", Pods: "40"},
		{Name: "large", CPU: "16", Memory: "32Gi", Pods: "110"},
	}, func(d typeDocument, _ int) *cloudprovider.InstanceType { return lo.Must(d.build()) })
}
