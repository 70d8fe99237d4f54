package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// kwok reads its configuration files before it knows its command, with a flag set of its own.
func kwok([]string) int {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}

	ctx, logger := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		logger.Error("reading kwok's configuration", "err", err)
		return 1
	}
	command := kwokcmd.NewCommand(ctx)
	command.Version = "" // component-base has a version flag of another type already
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		logger.Error("kwok ended", "err", err)
		return 1
	}
	return 0
}

// Containers take a moment to end; kwok's own stage would delete the pod at once.
const podDelete = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]
  delay: {durationMilliseconds: 2000}
  next: {delete: true}
`

// kwok completes the pods of Jobs at once; with this annotation after that time, such as "10s".
const completeAfter = `  delay:
    durationMilliseconds: 0
    durationFrom: {expressionFrom: '.metadata.annotations["pod-complete.stage.kwok.x-k8s.io/delay"]'}
  next:
`

// stages prints kwok's own descriptions of nodes that become Ready at once and renew a Lease, and of
// pods that run at once and complete, and ours of pods that end.
func stages([]string) int {
	fmt.Fprintln(os.Stdout, strings.Join([]string{
		fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, strings.Replace(podfast.DefaultPodComplete, "  next:\n", completeAfter, 1),
		podDelete,
	}, "\n---\n"))
	return 0
}
