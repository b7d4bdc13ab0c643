package resource

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a description must hold for a command that every apply runs, and what of it is shown.
func TestWhy(t *testing.T) {
	const none = ""
	for _, c := range []struct{ id, description, want string }{
		{"command:sync-keys", "Keys. command:sync-keys pulls what others pushed. More.", "command:sync-keys pulls what others pushed."},
		{"command:sync-keys", "sync-keys keeps no mark", "sync-keys keeps no mark"},
		{"command:sync-keys", "Sync-keys keeps no mark.", "Sync-keys keeps no mark."},
		{"command:sync", "Keys of the fleet, which `sync` pulls anew.", "Keys of the fleet, which `sync` pulls anew."},
		{"command:sync", "Keys: (command:sync) others push them.", "Keys: (command:sync) others push them."},
		{"command:sync", "What always runs is command:sync.", "What always runs is command:sync."},
		{"command:Make_It", "make_it has no mark.", "make_it has no mark."},
		{"command:a.b", "Runs always: a.b: it has no mark", "Runs always: a.b: it has no mark"},

		// Each sentence that names it; the others of a description are about something else.
		{"command:sync", "Runs sync. The sync leaves no mark behind. Others push keys.", "The sync leaves no mark behind."},
		{"command:sync", "Keys, pulled by sync from git. A second sync would find no mark!", "Keys, pulled by sync from git. A second sync would find no mark!"},

		// Lines are wrapped, folded or kept as they may be; paragraphs and lists are told apart.
		{"command:sync", "Keys.\nThe command:sync runs\n  every time, since it\r\nleaves no mark.\nMore.\n", "The command:sync runs every time, since it leaves no mark."},
		{"command:sync", "The fleet\n\nsync leaves no mark\n\nThe rest", "sync leaves no mark"},
		{"command:sync", "Commands:\n- sync: leaves no mark\n- warm: fills a cache\n", "sync: leaves no mark"},
		{"command:warm", "Commands:\n  1. sync: leaves no mark\n  2. warm: fills a cache\n", "warm: fills a cache"},

		// Where a sentence ends.
		{"command:sync", "Keys of hosts. sync pulls them anew. warm does not.", "sync pulls them anew. warm does not."},
		{"command:sync", "As sync leaves no mark, e.g. a file. Keys, etc. of all.", "As sync leaves no mark, e.g. a file."},
		{"command:sync", "sync 2.1 marks nothing in approx. 5 minutes. Keys.", "sync 2.1 marks nothing in approx. 5 minutes."},
		{"command:sync", "密钥。command:sync每次都运行因为没有标记。其他。", "command:sync每次都运行因为没有标记。"},

		// A word of the name, a longer name, a path, and another id are not the command.
		{"command:sync-keys", "The sync of keys runs at every apply, always, because it must.", none},
		{"command:sync", "sync-keys, /usr/bin/sync, resync, synced, sync.service, file:sync and _sync have their reasons.", none},
		{"command:command:x", "x is another name here.", none},
		// Words that every description has.
		{"command:apply", "Keys, pulled at every apply.", none},
		{"command:run", "This has to run always.", none},
		{"command:apply", "Keys: command:apply leaves no mark.", "Keys: command:apply leaves no mark."},
		{"command:apply-keys", "Keys: apply-keys leaves no mark.", "Keys: apply-keys leaves no mark."},
		// A name alone is no reason.
		{"command:sync", "command:sync", none},
		{"command:sync", "Runs sync.", none},
		{"command:sync", "Keys, because they must be there at every apply.", none},
		{"command:sync", " \n\t ", none},
	} {
		got, told := Why(c.description, c.id)
		if !told {
			if missing := "no sentence in the role's description names it"; !strings.HasPrefix(got, missing) && strings.TrimSpace(c.description) != "" {
				t.Errorf("%q, %s: what is missing reads %q", c.description, c.id, got)
			}
			got = none
		}
		if got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.description, c.id, got, c.want)
		}
	}
}

// Thousands of commands beneath megabytes of a description are judged without waiting.
func TestWhyOfAHugeDescription(t *testing.T) {
	huge := strings.Repeat("Words of a description that never ends. ", 200_000)
	began := time.Now()
	for i := range 2000 {
		if _, told := Why(huge, fmt.Sprintf("command:sync-%d", i)); told {
			t.Fatal(i)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%v", took)
	}
	if why, told := Why("sync leaves no mark. "+huge, "command:sync"); !told || why != "sync leaves no mark." {
		t.Errorf("%q", why)
	}
	if why, told := Why("sync goes "+strings.Repeat("on and ", 1000), "command:sync"); !told || len([]rune(why)) != 1001 {
		t.Errorf("%d characters of a sentence without an end", len([]rune(why)))
	}
}

// A report shows a description that has no reason, as far as it fits a line or two.
func TestWhyWithoutAReason(t *testing.T) {
	for description, want := range map[string]string{
		"":           "the role has no description that says why",
		"test\nrole": "no sentence in the role's description names it and says why; the description: test role",
		strings.Repeat("ä", 300): "no sentence in the role's description names it and says why; the description: " +
			strings.Repeat("ä", 200) + "…",
	} {
		if got, told := Why(description, "command:sync"); told || got != want {
			t.Errorf("%q: %q, want %q", description, got, want)
		}
	}
}
