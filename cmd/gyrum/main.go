// Command gyrum checks what a host has against what its catalog declares, and applies the difference when asked to.
// This package reads the command line, prints, and maps results to exit codes; what it decides nothing about is the
// engine's, what it knows nothing about is the host's.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(start()) }

// start runs the program with the process's own streams.
func start() int {
	// A reader of our output that went away must not kill an apply half way: with a handler the write fails with EPIPE
	// instead. A handler, other than ignoring, is not inherited by the commands that an apply runs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := interruptible()
	defer stop()
	p := &program{in: os.Stdin, out: &output{f: os.Stdout}, err: os.Stderr, getenv: os.Getenv}
	return p.run(ctx, os.Args[1:])
}

// interruptible gives a context that ends at SIGINT, SIGTERM and, unless nohup(1) says otherwise, SIGHUP. Later ones
// change nothing.
func interruptible() (context.Context, func()) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}
