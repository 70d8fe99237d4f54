package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's credential plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's own metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllerapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func etcd(args []string) int {
	etcdmain.Main(args)
	return 0
}

func apiServer([]string) int {
	return cli.Run(apiserverapp.NewAPIServerCommand())
}

func scheduler([]string) int {
	return cli.Run(schedulerapp.NewSchedulerCommand())
}

func controllerManager([]string) int {
	return cli.Run(controllerapp.NewControllerManagerCommand())
}

func kubectl([]string) int {
	// Before the command exists: making it already logs at the verbosity that was asked for.
	_, _ = logs.GlogSetter(kubectlcmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectlcmd.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints it as kubectl does, and exits
	}
	return 0
}
