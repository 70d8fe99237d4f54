package main

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store answers Get and List from memory, as the informer cache does that Karpenter reads from. The
// scheduler writes nothing; any other call is a nil pointer, so that it cannot go unnoticed.
type store struct {
	client.Client
	byType map[reflect.Type][]client.Object
	byName map[reflect.Type]map[types.NamespacedName]client.Object
	byNode map[string][]client.Object // pods
}

func newStore(objects []client.Object) *store {
	s := &store{
		byType: map[reflect.Type][]client.Object{},
		byName: map[reflect.Type]map[types.NamespacedName]client.Object{},
		byNode: map[string][]client.Object{},
	}
	for _, object := range objects {
		kind := reflect.TypeOf(object).Elem()
		s.byType[kind] = append(s.byType[kind], object)
		if s.byName[kind] == nil {
			s.byName[kind] = map[types.NamespacedName]client.Object{}
		}
		s.byName[kind][client.ObjectKeyFromObject(object)] = object
		if pod, ok := object.(*corev1.Pod); ok {
			s.byNode[pod.Spec.NodeName] = append(s.byNode[pod.Spec.NodeName], pod)
		}
	}
	return s
}

func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := reflect.TypeOf(into).Elem()
	found, ok := s.byName[kind][key]
	if !ok { // asking for what has no namespace, the API ignores the one that is given
		found, ok = s.byName[kind][client.ObjectKey{Name: key.Name}]
	}
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind.Name()}, key.String())
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

func (s *store) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	items := reflect.ValueOf(into).Elem().FieldByName("Items")
	kind := items.Type().Elem()
	from := s.byType[kind]
	if options.FieldSelector != nil {
		node, ok := options.FieldSelector.RequiresExactMatch("spec.nodeName")
		if !ok || kind != reflect.TypeFor[corev1.Pod]() {
			return apierrors.NewBadRequest("no index for " + options.FieldSelector.String())
		}
		from = s.byNode[node]
	}
	result := reflect.MakeSlice(items.Type(), 0, len(from))
	for _, object := range from {
		if options.Namespace != "" && object.GetNamespace() != options.Namespace {
			continue
		}
		if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		result = reflect.Append(result, reflect.ValueOf(object.DeepCopyObject()).Elem())
	}
	items.Set(result)
	return nil
}
