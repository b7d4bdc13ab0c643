// Package systemd asks the service manager about units and has it change them, over D-Bus. It also judges whether a
// running unit was started from its inputs as they are now, from records of earlier runs and from times.
//
// It knows no resources and takes no decisions: which word means in sync is the plugin's business.
package systemd
