package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// catalog writes roles of six resources each, of which every tenth is required by the nine that follow it and has a
// source, one in ten owns what others own on other hosts, one in ten brings the file of its unit, and hosts that carry ten
// roles each.
func catalog(root string, roles, hosts int) error {
	write := func(name, text string) error {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		return os.WriteFile(full, []byte(text), 0o644)
	}
	var names []string
	for i := range roles {
		name := fmt.Sprintf("r%d", i)
		names = append(names, name)
		requires, more := "", ""
		switch i % 10 {
		case 5:
			more = fmt.Sprintf(shared, i)
		case 6:
			more = fmt.Sprintf(unit, i)
		}
		if i%10 > 0 {
			requires = fmt.Sprintf("r%d", i-i%10)
		} else {
			more = fmt.Sprintf("\n  - type: file\n    path: /usr/local/share/s%d\n    source: sub/data\n", i)
			if err := write(fmt.Sprintf("host-roles/%s/files/sub/data", name), strings.Repeat("a line\n", 100)); err != nil {
				return err
			}
		}
		if err := write("host-roles/"+name+".yaml", fmt.Sprintf(manifest, i, requires)+more); err != nil {
			return err
		}
	}
	for h := range hosts {
		from := h * 10 % (roles - roles%10)
		text := fmt.Sprintf("name: h%d\ndescription: made to be measured\nroles: [%s]\n", h, strings.Join(names[from:from+10], ", "))
		if err := write(fmt.Sprintf("hosts/h%d.yaml", h), text); err != nil {
			return err
		}
	}
	return nil
}

// manifest takes a number and the role that is required.
const manifest = `role: r%[1]d
version: 1
description: |
  Made to be measured: a daemon with its configuration, as most roles are.
requires: [%[2]s]
resources:
  # From Debian.
  - type: package
    name: daemon%[1]d

  - type: directory
    path: /etc/daemon%[1]d
    mode: "0750"

  - type: file
    path: /etc/daemon%[1]d/daemon.conf
    content: |
      listen = 127.0.0.1:%[1]d
      workers = 4
      log = /var/log/daemon%[1]d.log
    mode: "0640"
    group: adm

  - type: env
    path: /etc/default/daemon%[1]d
    vars:
      WORKERS: "4"
      LEVEL: info
      API_TOKEN: {secret_ref: "file:/etc/gyrum/secrets/daemon"}

  - type: command
    id: command:key-%[1]d
    run: [/usr/bin/daemon-keygen, --out, /etc/daemon%[1]d/key]
    creates: /etc/daemon%[1]d/key

  - type: systemd_unit
    name: daemon%[1]d.service
    state: started
    enabled: true
    restart_on: ["file:/etc/daemon%[1]d/daemon.conf", "env:/etc/default/daemon%[1]d"]
`

// shared takes a number: what one role of each host owns.
const shared = `
  - type: package
    name: shared

  - type: file
    path: /etc/shared.conf
    content: "%[1]d"

  - type: line
    path: /etc/hosts
    key: shared
    line: 192.0.2.1 shared
`

// unit takes a number: a unit with its file.
const unit = `
  - type: file
    path: /etc/systemd/system/own%[1]d.service
    content: |
      [Service]
      ExecStart=/usr/bin/own%[1]d

  - type: systemd_unit
    name: own%[1]d.service
    unit_file: /etc/systemd/system/own%[1]d.service
    state: started
`
