// Package process runs one program at a time to its end, in a session of its own, and ends everything that it started
// when its time is up. Nothing is inherited but what the caller names: no environment, no standard input, no umask.
//
// It knows no resources; Commands fits host.Commands for the commands that a manifest declares.
package process
