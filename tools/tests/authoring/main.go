// Command authoring measures what catalogs of some sizes cost to judge, by `gyrum validate`, `gyrum lint` and plain
// `cue vet -c .`, as whole processes: elapsed time, processor time and the most memory held. It asserts nothing: times
// belong to the machine that they were taken on.
//
//	go run ./tools/tests/authoring [-gyrum bin/gyrum] [-sizes 1000:200,5000:1000] [-rounds 3]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	gyrum := flag.String("gyrum", "bin/gyrum", "the program")
	sizes := flag.String("sizes", "1000:200,5000:1000", "catalogs as ROLES:HOSTS, separated by commas")
	rounds := flag.Int("rounds", 3, "how often each command runs; the medians are printed")
	flag.Parse()
	if err := run(*gyrum, *sizes, *rounds, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "authoring:", err)
		os.Exit(1)
	}
}

func run(gyrum, sizes string, rounds int, out io.Writer) error {
	gyrum, err := filepath.Abs(gyrum)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gyrum-authoring-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cue := filepath.Join(dir, "cue")
	if text, err := exec.Command("go", "build", "-C", "tools", "-o", cue, "cuelang.org/go/cmd/cue").CombinedOutput(); err != nil {
		return fmt.Errorf("build cue: %w\n%s", err, text)
	}
	fmt.Fprintf(out, "%-10s %-8s %-16s %9s %9s %9s\n", "roles", "hosts", "command", "elapsed", "processor", "memory")
	for size := range strings.SplitSeq(sizes, ",") {
		var roles, hosts int
		if _, err := fmt.Sscanf(size, "%d:%d", &roles, &hosts); err != nil || roles < 10 {
			return fmt.Errorf("%q is no size; write ROLES:HOSTS with at least 10 roles", size)
		}
		root := filepath.Join(dir, strings.ReplaceAll(size, ":", "-"))
		if err := catalog(root, roles, hosts); err != nil {
			return err
		}
		if text, err := exec.Command(gyrum, "init", "--host", "h0", root).CombinedOutput(); err != nil {
			return fmt.Errorf("gyrum init: %w\n%s", err, text)
		}
		for _, c := range [][]string{{gyrum, "validate"}, {gyrum, "lint"}, {cue, "vet", "-c", "."}} {
			m, err := measure(root, rounds, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%-10d %-8d %-16s %7.2f s %7.2f s %6d MB\n", roles, hosts,
				filepath.Base(c[0])+" "+c[1], m.elapsed.Seconds(), m.processor.Seconds(), m.memory>>20)
		}
	}
	return nil
}

// cost is what one run took.
type cost struct {
	elapsed, processor time.Duration
	memory             int64 // bytes, the most that was resident
}

// measure runs a command in a folder and gives the median of each figure.
func measure(dir string, rounds int, args []string) (cost, error) {
	var all []cost
	for range rounds {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		start := time.Now()
		if text, err := cmd.CombinedOutput(); err != nil {
			return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
		}
		c := cost{elapsed: time.Since(start), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			c.memory = u.Maxrss << 10
		}
		all = append(all, c)
	}
	median := func(of func(cost) int64) int64 {
		var vs []int64
		for _, c := range all {
			vs = append(vs, of(c))
		}
		slices.Sort(vs)
		return vs[len(vs)/2]
	}
	return cost{
		time.Duration(median(func(c cost) int64 { return int64(c.elapsed) })),
		time.Duration(median(func(c cost) int64 { return int64(c.processor) })),
		median(func(c cost) int64 { return c.memory }),
	}, nil
}
