package realhost

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if why := Missing(); why != "" {
		fmt.Println("skipped: real hosts:", why)
		if Required() {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestHostIsAWholeDebian(t *testing.T) {
	h := Boot(t, Options{Hostname: "bare"})
	if got := h.Shell("hostname"); got != "bare" {
		t.Errorf("hostname %q", got)
	}
	if got := h.Shell("apt-get install -y -qq gyrum-prober=1.0-1 >/dev/null 2>&1; dpkg-query -W -f='${Version} ${Status}' gyrum-prober"); got != "1.0-1 install ok installed" {
		t.Errorf("package: %q", got)
	}
	h.Shell("systemctl enable -q --now gyrum-prober.service; systemctl is-active -q gyrum-prober.service")
	if r := h.Run("sh", "-c", "kill -9 $$"); r.Code != 128+9 {
		t.Errorf("a command that a signal ended: %s", r)
	}
	h.Publish(Deb{Name: "made-up", Version: "3.1"})
	h.Shell("apt-get install -y -qq made-up >/dev/null 2>&1; dpkg-query -W made-up")
}

func TestSnapshotSeesEveryChange(t *testing.T) {
	h := Boot(t, Options{})
	h.Shell("mkdir /t; for f in kept written touched chmodded replaced removed linked; do echo old >/t/$f; done; ln -s kept /t/link; sleep 0.1")
	before := h.Snapshot("/t")
	if changes := before.Changes(h.Snapshot("/t")); len(changes) != 0 {
		t.Errorf("nothing happened, and yet: %v", changes)
	}
	h.Shell(`cd /t; cat kept; echo new >written; touch touched; chmod 600 chmodded; cp -p replaced x; mv x replaced; rm removed; ln linked other; ln -sf written link`)
	changes := before.Changes(h.Snapshot("/t"))
	var names []string
	for _, line := range changes {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	if got, want := strings.Join(names, " "), "/t /t/chmodded /t/link /t/linked /t/other /t/removed /t/replaced /t/touched /t/written"; got != want {
		t.Errorf("changes of %q, want %q\n%s", got, want, strings.Join(changes, "\n"))
	}
}

func TestPowerCutKeepsFiles(t *testing.T) {
	h := Boot(t, Options{})
	h.Write("/etc/left-behind", "x\n")
	first := h.Shell("cat /proc/sys/kernel/random/boot_id; systemctl show -p InvocationID dbus.service")
	h.PowerCut()
	h.PowerOn()
	if got := h.Shell("cat /etc/left-behind"); got != "x" {
		t.Errorf("after the power cut: %q", got)
	}
	if h.Shell("cat /proc/sys/kernel/random/boot_id; systemctl show -p InvocationID dbus.service") == first {
		t.Error("the host did not boot again")
	}
}

func TestHostsOfANetworkReachEachOther(t *testing.T) {
	network := NewNetwork(t)
	a, b := Boot(t, Options{Network: network}), Boot(t, Options{Network: network})
	b.Write("/etc/systemd/system/hello.socket", "[Socket]\nListenStream="+b.Address()+":7000\nAccept=yes\n")
	b.Write("/etc/systemd/system/hello@.service", "[Service]\nExecStart=/bin/echo hello\nStandardOutput=socket\n")
	b.Shell("systemctl daemon-reload; systemctl start hello.socket")
	if got := a.Run("bash", "-c", "exec 3<>/dev/tcp/"+b.Address()+"/7000; cat <&3").Stdout; got != "hello\n" {
		t.Errorf("from the other host: %q", got)
	}
}
