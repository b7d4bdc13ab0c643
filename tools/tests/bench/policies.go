package main

import (
	"fmt"
	"strings"
)

// bodies are what CFEngine's standard library has for the promises here.
const bodies = `body perms pm(mode, owner, group) { mode => "$(mode)"; owners => { "$(owner)" }; groups => { "$(group)" }; rxdirs => "false"; }
`

// workedExample is the requirement's role, and what CFEngine asks a host to know the same.
func (b *bench) workedExample() policy {
	return policy{
		role: `
  - {type: package, name: gyrum-prober}
  - {type: directory, path: /etc/gyrum}
  - type: file
    path: /etc/gyrum/prober.yaml
    content: "heartbeat_interval_seconds: 60\n"
    mode: "0640"
    group: gyrum
  - {type: systemd_unit, name: gyrum-prober.service, state: started, enabled: true, unit_file: /lib/systemd/system/gyrum-prober.service}
`,
		promises: `
  classes:
    "installed" expression => returnszero("/usr/bin/dpkg-query -W gyrum-prober >/dev/null 2>&1", "useshell");
    "active" expression => returnszero("/usr/bin/systemctl -q is-active gyrum-prober.service", "noshell");
    "enabled" expression => returnszero("/usr/bin/systemctl -q is-enabled gyrum-prober.service", "noshell");
  files:
    "/etc/gyrum/." create => "true", perms => pm("0755", "root", "root");
    "/etc/gyrum/prober.yaml" content => "heartbeat_interval_seconds: 60$(const.n)", perms => pm("0640", "root", "gyrum");
  reports:
    !installed:: "error: the package is missing";
    !active:: "error: the unit does not run";
    !enabled:: "error: the unit is not enabled";
`,
	}
}

// manyFiles is a folder of small files, each with a content and a mode of its own.
func (b *bench) manyFiles(n int) policy {
	var role, promises strings.Builder
	role.WriteString("  - {type: directory, path: /etc/many}\n")
	promises.WriteString("  files:\n    \"/etc/many/.\" create => \"true\", perms => pm(\"0755\", \"root\", \"root\");\n")
	for i := range n {
		fmt.Fprintf(&role, "  - {type: file, path: /etc/many/%04d.conf, content: \"value %d\\n\"}\n", i, i)
		fmt.Fprintf(&promises, "    \"/etc/many/%04d.conf\" content => \"value %d$(const.n)\", perms => pm(\"0644\", \"root\", \"root\");\n", i, i)
	}
	return policy{role.String(), promises.String()}
}
