// Package engine compares what is declared for a host with what the host has, as a drift report, and executes the items of
// such a report. Check and Apply build their reports by the same code; Check has no parameter from which a writer can be
// reached.
//
// It knows resources, observations and decisions. It knows no manifest syntax, no sandbox and no host: those stand behind
// Observer and Hand.
package engine
