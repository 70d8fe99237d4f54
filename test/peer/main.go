// peer runs scenario and workload files (test/scenarios/README.md) through Karpenter's scheduler
// library and prints, per file, one line of JSON: the plan and how long Solve took.
//
//	peer solve [-seconds N] [-workers N] FILE...
//	peer version
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/karpenter/pkg/operator/logging"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "version" {
		fmt.Println(version())
		return nil
	}
	if len(args) == 0 || args[0] != "solve" {
		return fmt.Errorf("usage: peer solve [-seconds N] [-workers N] FILE... | peer version")
	}
	flags := flag.NewFlagSet("solve", flag.ContinueOnError)
	seconds := flags.Float64("seconds", 0, "repeat each file until Solve ran this long in sum; the median counts")
	// What Karpenter's own benchmark uses.
	workers := flags.Int("workers", 5, "candidates looked at in parallel")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	log.SetLogger(logging.NopLogger)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for _, file := range flags.Args() {
		world, err := readWorld(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		plan, err := world.solve(*workers, time.Duration(*seconds*float64(time.Second)))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		plan.File = file
		if err := encoder.Encode(plan); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "sigs.k8s.io/karpenter" {
				return module.Version
			}
		}
	}
	return "unknown"
}
