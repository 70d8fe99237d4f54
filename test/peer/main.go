// peer runs scenario and workload files (test/scenarios/README.md) through Karpenter's scheduler
// library, or through its consolidation, and prints one line of JSON per file: the plan and how long
// Solve took, or the commands, what is left and what it costs.
//
//	peer solve [-seconds N] [-workers N] FILE...
//	peer consolidate [-commands N] FILE...
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
	var each func(*world, string) (any, error)
	flags := flag.NewFlagSet("peer", flag.ContinueOnError)
	switch {
	case len(args) > 0 && args[0] == "solve":
		seconds := flags.Float64("seconds", 0, "repeat each file until Solve ran this long in sum; the median counts")
		// What Karpenter's own benchmark uses.
		workers := flags.Int("workers", 5, "candidates looked at in parallel")
		each = func(w *world, file string) (any, error) {
			plan, err := w.solve(*workers, time.Duration(*seconds*float64(time.Second)))
			if err == nil {
				plan.File = file
			}
			return plan, err
		}
	case len(args) > 0 && args[0] == "consolidate":
		most := flags.Int("commands", 1000, "carried out at most")
		each = func(w *world, file string) (any, error) {
			settled, err := w.settle(*most)
			if err == nil {
				settled.File = file
			}
			return settled, err
		}
	default:
		return fmt.Errorf("usage: peer solve [-seconds N] [-workers N] FILE... | " +
			"peer consolidate [-commands N] FILE... | peer version")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	log.SetLogger(logging.NopLogger)
	return answer(flags.Args(), each)
}

// answer prints a line per file.
func answer(files []string, each func(*world, string) (any, error)) error {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for _, file := range files {
		world, err := readWorld(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		line, err := each(world, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := encoder.Encode(line); err != nil {
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
