package main

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"

	kwok "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

const (
	nodeClassGroup = "karpenter.kwok.sh"
	nodeClassKind  = "KWOKNodeClass"
)

var errNotACloud = errors.New("this provider sells, but launches nothing")

// provider sells the types of a world to every pool and does nothing else.
type provider struct{ of *world }

func (p *provider) GetInstanceTypes(_ context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.of.typesOf(pool), nil
}
func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&kwok.KWOKNodeClass{}}
}
func (p *provider) Name() string                                 { return "peer" }
func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (p *provider) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errNotACloud
}
func (p *provider) Delete(context.Context, *v1.NodeClaim) error { return errNotACloud }
func (p *provider) Get(context.Context, string) (*v1.NodeClaim, error) {
	return nil, errNotACloud
}
func (p *provider) List(context.Context) ([]*v1.NodeClaim, error) { return nil, nil }
func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (p *provider) Reboot(context.Context, *v1.NodeClaim, string) error { return errNotACloud }
