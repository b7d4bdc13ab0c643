package manifest

import (
	"slices"
	"strings"
)

// peers are words of Ansible, Puppet, CFEngine and plain habit, with what they are called here; the first that is among
// the words asked for counts.
var peers = map[string][]string{
	// types
	"apt": {"package"}, "pkg": {"package"}, "packages": {"package"}, "deb": {"package"},
	"dir": {"directory"}, "folder": {"directory"}, "copy": {"file"}, "template": {"file"}, "blockinfile": {"line"}, "lineinfile": {"line"},
	"service": {"systemd_unit"}, "systemd": {"systemd_unit"}, "unit": {"systemd_unit"}, "timer": {"systemd_unit"}, "socket": {"systemd_unit"},
	"exec": {"command"}, "shell": {"command"}, "script": {"command"}, "link": {"symlink"}, "environment": {"env"}, "envfile": {"env"},
	"account": {"user"},
	// fields
	"ensure": {"state"}, "status": {"state"}, "running": {"started", "state"}, "enable": {"enabled"}, "onboot": {"enabled"},
	"dest": {"path"}, "destination": {"path"}, "target": {"path"}, "filename": {"path"},
	"src": {"source"}, "text": {"content", "line"}, "contents": {"content"}, "data": {"content"}, "body": {"content"}, "value": {"content"},
	"user": {"owner"}, "uid": {"owner"}, "gid": {"group"}, "perm": {"mode"}, "perms": {"mode"}, "permissions": {"mode"}, "chmod": {"mode"},
	"cmd": {"run"}, "command": {"run", "command"}, "argv": {"run"}, "chdir": {"cwd"}, "workdir": {"cwd"}, "onlyif": {"creates"}, "unless": {"creates"},
	"variables": {"vars"}, "subscribe": {"restart_on"}, "notify": {"restart_on"}, "unitfile": {"unit_file"}, "depends": {"requires"},
	"require": {"requires"}, "dependencies": {"requires"}, "conflicts": {"mutually_exclusive"}, "excludes": {"mutually_exclusive"},
	"tasks": {"resources"}, "items": {"resources"}, "hostname": {"name"}, "rolename": {"role"},
	// words
	"installed": {"present"}, "latest": {"present"}, "exists": {"present"}, "removed": {"absent"}, "purged": {"absent"}, "uninstalled": {"absent"},
	"missing": {"absent"}, "deleted": {"absent"}, "active": {"started"}, "start": {"started"}, "restarted": {"started"}, "up": {"started"},
	"inactive": {"stopped"}, "stop": {"stopped"}, "dead": {"stopped"}, "down": {"stopped"},
}

// didYouMean gives a hint that names the nearest of the words, "" when none is near.
func didYouMean(got string, words []string) string {
	if len(got) > 64 {
		return ""
	}
	for _, w := range peers[strings.ToLower(strings.ReplaceAll(got, "_", ""))] {
		if slices.Contains(words, w) {
			return "did you mean " + w + "?"
		}
	}
	best, at := "", max(len(got)/3, 1)+1
	for _, w := range words {
		if strings.EqualFold(w, got) {
			return "did you mean " + w + "?"
		}
		if len(w) < 3 && len(got) < 3 {
			continue
		}
		if d := distance(strings.ToLower(got), strings.ToLower(w)); d < at && d < len(w) {
			best, at = w, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between two short words.
func distance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
