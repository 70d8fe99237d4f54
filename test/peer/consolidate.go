package main

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/samber/lo"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
)

// settlement is what goes out of `peer consolidate`: what Karpenter's removal makes of a cluster.
type settlement struct {
	File     string    `json:"file"`
	Before   float64   `json:"before"` // per hour
	After    float64   `json:"after"`
	Nodes    int       `json:"nodes"` // that are left
	Evicted  int       `json:"evicted"`
	Commands []removal `json:"commands"` // in the order they were carried out
}

// removal is one of Karpenter's commands.
type removal struct {
	Method        string            `json:"method"`         // empty, multi or single
	Candidates    []string          `json:"candidates"`     // nodes that the method could choose from, sorted
	Nodes         []string          `json:"nodes"`          // that go
	InstanceTypes []string          `json:"instance_types"` // of the node that is bought, cheapest first
	Placements    map[string]string `json:"placements"`     // pod that moves to node
	PriceAfter    float64           `json:"price_after"`    // per hour, of all nodes
}

// decision is a command before it is carried out.
type decision struct {
	command    disruption.Command
	method     string
	candidates []string
}

// settle lets Karpenter remove nodes, `most` commands at most, each carried out as it was planned.
func (w *world) settle(most int) (*settlement, error) {
	if w.resourceClaims {
		// Nobody allocates devices again for the pods that a command moves.
		return nil, errors.New("clusters with devices are for solve alone")
	}
	ctx, err := w.context("--feature-gates", "SpotToSpotConsolidation=true")
	if err != nil {
		return nil, err
	}
	scheduling.MaxInstanceTypes = w.maxInstanceTypes
	w.bringToRest()
	result := &settlement{Before: w.price(), Commands: []removal{}}
	for len(result.Commands) < most {
		next, err := w.decideRemoval(ctx)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		done, err := w.carryOut(next)
		if err != nil {
			return nil, err
		}
		result.Evicted += len(done.Placements)
		result.Commands = append(result.Commands, *done)
	}
	result.After = w.price()
	result.Nodes = len(w.claims())
	return result, nil
}

// decideRemoval asks Karpenter's methods in its order. A command is not validated again 15 s later:
// nothing has changed by then.
func (w *world) decideRemoval(ctx context.Context) (*decision, error) {
	kube := newStore(w.objects)
	cloud := &provider{of: w}
	clock := clocktesting.NewFakeClock(w.now())
	cluster := state.NewCluster(clock, kube, cloud)
	if err := w.fill(ctx, cluster); err != nil {
		return nil, err
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	provisioner := provisioning.NewProvisioner(kube, recorder, cloud, cluster, clock, nil, nil)
	queue := disruption.NewQueue(kube, recorder, cluster, clock, provisioner)
	consolidation := disruption.MakeConsolidation(clock, cluster, kube, provisioner, cloud, recorder, queue)
	unchanged := disruption.WithValidator(sameAgain{})
	for _, method := range []disruption.Method{
		disruption.NewEmptiness(consolidation, unchanged),
		disruption.NewMultiNodeConsolidation(consolidation, unchanged),
		disruption.NewSingleNodeConsolidation(consolidation, unchanged),
	} {
		candidates, totals, err := disruption.GetCandidatesWithTotals(ctx, cluster, kube, recorder, clock, cloud,
			method.ShouldDisrupt, method.Class(), queue, nil)
		if err != nil {
			return nil, err
		}
		if setter, ok := method.(disruption.NodePoolTotalsSetter); ok {
			setter.SetNodePoolTotals(totals)
		}
		budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, cluster, clock, kube, cloud, recorder, method.Reason())
		if err != nil {
			return nil, err
		}
		// They come in the order of a map: between equals it would be chance which is the first.
		sort.Slice(candidates, func(a, b int) bool { return candidates[a].Name() < candidates[b].Name() })
		names := lo.Map(candidates, func(c *disruption.Candidate, _ int) string { return c.Name() })
		commands, err := method.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return nil, err
		}
		for _, command := range commands {
			if command.Decision() != disruption.NoOpDecision {
				return &decision{command: command, method: method.ConsolidationType(), candidates: names}, nil
			}
		}
	}
	return nil, nil
}

// sameAgain finds every command as right as it was.
type sameAgain struct{}

func (sameAgain) Validate(_ context.Context, command disruption.Command, _ time.Duration) (disruption.Command, error) {
	return command, nil
}

// bringToRest does what Karpenter's controllers would have done with claims to which nothing has
// happened for a day.
func (w *world) bringToRest() {
	never := map[string]bool{}
	for _, pool := range w.pools {
		never[pool.Name] = pool.Spec.Disruption.ConsolidateAfter.Duration == nil
	}
	for _, claim := range w.claims() {
		conditions := claim.StatusConditions()
		for _, condition := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered,
			v1.ConditionTypeInitialized} {
			conditions.SetTrue(condition)
		}
		if !never[claim.Labels[v1.NodePoolLabelKey]] {
			conditions.SetTrue(v1.ConditionTypeConsolidatable)
		}
	}
}

// now is a day after the youngest claim was made.
func (w *world) now() time.Time {
	var youngest time.Time
	for _, claim := range w.claims() {
		if claim.CreationTimestamp.After(youngest) {
			youngest = claim.CreationTimestamp.Time
		}
	}
	return youngest.Add(24 * time.Hour)
}
