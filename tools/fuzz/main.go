// Command fuzz runs every fuzz target of the given packages, one after another: go test takes one at a time.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	duration := flag.String("time", "10s", "how long each target runs")
	flag.Parse()
	if err := fuzz(*duration, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func fuzz(duration string, patterns []string) error {
	targets, err := list(patterns)
	if err != nil {
		return err
	}
	for _, t := range targets {
		fmt.Printf("%s %s\n", t.pkg, t.name)
		cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", duration, t.pkg)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s in %s: %w", t.name, t.pkg, err)
		}
	}
	return nil
}

type target struct{ pkg, name string }

// list finds the fuzz targets. go test prints the names of a package, then the line that closes it.
func list(patterns []string) ([]target, error) {
	cmd := exec.Command("go", append([]string{"test", "-list", "^Fuzz"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the targets: %w\n%s", err, out)
	}
	var targets []target
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && (fields[0] == "ok" || fields[0] == "?"):
			for _, name := range names {
				targets = append(targets, target{fields[1], name})
			}
			names = nil
		}
	}
	return targets, nil
}
