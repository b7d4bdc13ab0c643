// Package confine takes from a process, and from every program that it starts, what looking at a host does not need: with
// Landlock the right to write, and the capabilities that would let root do more than read. It cannot be undone.
//
// It protects against mistakes, of ours and of the programs that a check runs. It is no jail for an enemy: a process of
// uid 0 that may speak to the service manager can have it do things. Plugins are held by their sandbox, not by this.
//
// It knows no resources and no plugins.
package confine
