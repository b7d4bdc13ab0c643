// Command bench measures whole runs of gyrum beside a cf-agent dry run of an equal policy, on one real host, in turn, and
// prints medians and ratios. It asserts nothing: times belong to the machine that they were taken on.
package main

import (
	"flag"
	"fmt"
	"os"

	"gyrum.ai/tools/tests/realhost"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often each command runs; the medians are printed")
	files := flag.Int("files", 1000, "how many files the second policy has, and the last apply writes")
	binary := flag.String("gyrum", "bin/gyrum", "the program")
	inside := flag.Bool("measure", false, "used within the host: measures the commands that standard input lists")
	again := flag.String("replay", "", "used within the host: writes the run that standard input holds into this state `FOLDER`")
	flag.Parse()
	if *again != "" {
		if err := replay(os.Stdin, os.Stdout, *again); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *inside {
		if err := measure(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if why := realhost.Missing(); why != "" {
		fmt.Fprintln(os.Stderr, "bench:", why)
		os.Exit(1)
	}
	session := &session{}
	code := session.run(func() {
		b := boot(session, *binary)
		b.compare("the worked example, in sync", *rounds, b.workedExample())
		b.compare(fmt.Sprintf("%d files, in sync", *files), *rounds, b.manyFiles(*files))
		b.applies(*rounds, 100)
		b.applies(*rounds, *files)
	})
	os.Exit(code)
}
