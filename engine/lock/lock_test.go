package lock

import (
	"strings"
	"testing"

	"gyrum.ai/engine/plugin"
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func info(typ, o, a string, observe, apply map[string]plugin.Grant) plugin.Info {
	return plugin.Info{Type: typ, Observe: digest(o), Apply: digest(a), Manifest: &plugin.Manifest{Type: typ, Observe: observe, Apply: apply}}
}

var (
	stat   = map[string]plugin.Grant{"file_stat": {Scope: []string{"path"}}}
	change = map[string]plugin.Grant{"file_mode": {Scope: []string{"path"}}}
	one    = info("file", "1", "2", stat, change)
)

func TestWrittenAndRead(t *testing.T) {
	l := Make([]plugin.Info{one, info("env", "3", "4", stat, nil)}, nil, false)
	text := l.Format()
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if string(again.Format()) != string(text) {
		t.Errorf("not the same again:\n%s", again.Format())
	}
	for range 10 {
		if string(Make([]plugin.Info{info("env", "3", "4", stat, nil), one}, nil, false).Format()) != string(text) {
			t.Fatal("the bytes depend on an order")
		}
	}
	if why := again.Judge(one); len(why) > 0 {
		t.Error(why)
	}
}

func TestWhatIsNotAccepted(t *testing.T) {
	l := Make([]plugin.Info{one}, nil, false)
	wide := map[string]plugin.Grant{"file_stat": {Scope: []string{"path", "creates"}}, "file_digest": {Scope: []string{"path"}}}
	for name, c := range map[string]struct {
		info plugin.Info
		want []string
	}{
		"another observer":   {info("file", "9", "2", stat, change), []string{"type file", "observe module " + digest("9"), "accepts (observe " + digest("1") + ")", "gyrum lock --add"}},
		"another applier":    {info("file", "1", "9", stat, change), []string{"apply module " + digest("9")}},
		"an unknown type":    {info("env", "1", "2", stat, change), []string{"type env is not in gyrum.lock", "gyrum plugin inspect env"}},
		"more capabilities":  {info("file", "1", "2", wide, change), []string{"observe wants the capability file_digest, bound to path", "observe wants the capability file_stat bound to the field creates as well"}},
		"apply wants more":   {info("file", "1", "2", stat, map[string]plugin.Grant{"file_remove": {Scope: []string{"path"}}}), []string{"apply wants the capability file_remove"}},
		"fewer is no matter": {info("file", "1", "2", nil, nil), nil},
	} {
		got := strings.Join(l.Judge(c.info), "\n")
		if (got == "") != (c.want == nil) {
			t.Errorf("%s: %q", name, got)
		}
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", name, got, w)
			}
		}
	}
}

// While hosts run two versions, both are accepted, but not one's observer with the other's applier.
func TestTwoVersionsSideBySide(t *testing.T) {
	two := info("file", "3", "4", stat, nil)
	old := Make([]plugin.Info{one}, nil, false)
	l, err := Parse(Make([]plugin.Info{two}, old, true).Format())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []plugin.Info{one, two} {
		if why := l.Judge(i); len(why) > 0 {
			t.Error(why)
		}
	}
	if why := strings.Join(l.Judge(info("file", "1", "4", stat, nil)), ""); !strings.Contains(why, "not of one build") {
		t.Errorf("mixed: %q", why)
	}
	if why := Make([]plugin.Info{two}, old, false).Judge(one); len(why) == 0 {
		t.Error("what was replaced is accepted still")
	}
	got := strings.Join(Changes(old, Make([]plugin.Info{two}, old, false)), "\n")
	for _, w := range []string{"file: accepts observe " + digest("3"), "file: no longer accepts observe " + digest("1"), "file: no longer: apply wants the capability file_mode"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
	if c := Changes(old, old); len(c) > 0 {
		t.Errorf("nothing changed: %q", c)
	}
}

func TestLocksThatAreRefused(t *testing.T) {
	good := string(Make([]plugin.Info{one}, nil, false).Format())
	for name, bad := range map[string]string{
		"empty": "", "no object": "[]", "another format": strings.Replace(good, `"lock": 1`, `"lock": 2`, 1),
		"an unknown field":    strings.Replace(good, `"lock": 1`, `"lock": 1, "x": 1`, 1),
		"a field in capitals": strings.Replace(good, `"plugins"`, `"Plugins"`, 1),
		"a field twice":       strings.Replace(good, `"lock": 1`, `"lock": 1, "lock": 1`, 1),
		"something behind":    good + "{}",
		"a short digest":      strings.Replace(good, digest("1"), "sha256:1", 1),
		"no modules":          `{"lock":1,"plugins":{"file":{"accept":[],"observe":{},"apply":{}}}}`,
		"no phases":           `{"lock":1,"plugins":{"file":{"accept":[{"observe":"` + digest("1") + `","apply":"` + digest("1") + `"}]}}}`,
		"null":                `{"lock":1,"plugins":{"file":null}}`,
		"a bad type":          strings.Replace(good, `"file"`, `"../file"`, 1),
		"a bad key":           strings.Replace(good, `"lock": 1`, `"lock": 1, "keys": ["x"]`, 1),
		"an unsorted scope":   strings.Replace(good, `"path"`, `"path", "creates"`, 1),
	} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s was taken: %s", name, bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Make([]plugin.Info{one}, nil, false).Format())
	f.Add([]byte(`{"lock":1,"plugins":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(l.Format())
		if err != nil || string(again.Format()) != string(l.Format()) {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
