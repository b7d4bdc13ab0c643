package realhost

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Network joins hosts of one test: a bridge in a network namespace, and one namespace a host. Nothing of it can be
// reached from the machine, and no host reaches anything but the others. It takes the program ip (package iproute2).
type Network struct {
	mu     sync.Mutex
	bridge string // the namespace that holds the bridge
	hosts  int
}

// NewNetwork makes a network that ends with the test.
func NewNetwork(t T) *Network {
	t.Helper()
	n := &Network{bridge: fmt.Sprintf("%sn%d-%d", testPrefix, os.Getpid(), hostCount.Add(1))}
	t.Cleanup(func() {
		if err := ip("netns", "delete", n.bridge); err != nil {
			t.Errorf("remove the network: %v", err)
		}
	})
	for _, args := range [][]string{
		{"netns", "add", n.bridge},
		{"-n", n.bridge, "link", "add", "bridge", "type", "bridge"},
		{"-n", n.bridge, "link", "set", "bridge", "up"},
	} {
		if err := ip(args...); err != nil {
			t.Fatalf("make a network: %v", err)
		}
	}
	return n
}

// netnsDir is where ip(8) keeps network namespaces.
const netnsDir = "/run/netns"

// namespace is the path of a host's network namespace.
func (n *Network) namespace(host string) string { return filepath.Join(netnsDir, testPrefix+host) }

// join makes the host's namespace and its cable to the bridge. Addresses are of TEST-NET-1 (RFC 5737).
func (n *Network) join(host string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts++
	space, port := testPrefix+host, fmt.Sprintf("port%d", n.hosts)
	address := fmt.Sprintf("192.0.2.%d", n.hosts)
	for _, args := range [][]string{
		{"netns", "add", space},
		{"-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", n.bridge},
		{"-n", n.bridge, "link", "set", port, "master", "bridge", "up"},
		{"-n", space, "addr", "add", address + "/24", "dev", "eth0"},
		{"-n", space, "link", "set", "lo", "up"},
		{"-n", space, "link", "set", "eth0", "up"},
	} {
		if err := ip(args...); err != nil {
			return "", err
		}
	}
	return address, nil
}

func (n *Network) leave(host string) error { return ip("netns", "delete", testPrefix+host) }

func ip(args ...string) error { return run(context.Background(), "ip", args...) }
