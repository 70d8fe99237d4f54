// Command plane is a Kubernetes control plane in one program, for tests: the parts that a cluster
// runs, linked unchanged, each under its own name. It is called by a link of that name, or as
// `plane NAME ARGUMENTS...`. `plane stages` prints how kwok is to play a kubelet.
//
// One program instead of six: they share nearly all of their code, so it is linked once.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, without the machine's own files
)

var parts = map[string]func(args []string) int{
	"etcd":                    etcd,
	"kube-apiserver":          apiServer,
	"kube-scheduler":          scheduler,
	"kube-controller-manager": controllerManager,
	"kubectl":                 kubectl,
	"kwok":                    kwok,
	"stages":                  stages,
}

func names() string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}

func main() {
	args := os.Args
	if _, known := parts[filepath.Base(args[0])]; !known {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintf(os.Stderr, "plane: name a part: %s\n", names())
		os.Exit(2)
	}
	part, known := parts[filepath.Base(args[0])]
	if !known {
		fmt.Fprintf(os.Stderr, "plane: no part %q; there are: %s\n", args[0], names())
		os.Exit(2)
	}
	os.Args = args // the parts read the process's own arguments
	os.Exit(part(args))
}
