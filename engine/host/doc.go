// Package host is what a real host can be asked and told. Each question and each effect is one capability: a name,
// a JSON request and a JSON reply, listed in capability.go. A Reader holds the questions, a Writer the effects; code
// that was given a Reader cannot reach a Writer.
//
// It knows nothing of plugins, plans or reports.
package host
