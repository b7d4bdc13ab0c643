package dpkg

import (
	"reflect"
	"strings"
	"testing"
)

func TestWhatASimulationSays(t *testing.T) {
	db := newDatabase([]*entry{
		{name: "here", arch: "all", want: "install", flag: "ok", status: "installed", version: "1.1-1"},
		{name: "down", arch: "amd64", want: "install", flag: "ok", status: "installed", version: "2"},
		{name: "stuck", arch: "amd64", want: "hold", flag: "ok", status: "installed", version: "1"},
		{name: "other", arch: "amd64", want: "install", flag: "ok", status: "installed", version: "1"},
		{name: "leaving", arch: "all", want: "install", flag: "ok", status: "installed", version: "1"},
		{name: "again", arch: "amd64", want: "install", flag: "reinstreq", status: "half-installed", version: "1"},
	})
	tests := []struct {
		name   string
		target string
		out    string
		want   string // installs|upgrades|downgrades|removes
		reason string
	}{
		{"new", "new", "Inst new (2.0-1 localhost [all])\nConf new (2.0-1 localhost [all])", "new=2.0-1|||", ""},
		{"upgrade", "here", "Inst here [1.1-1] (2.0-1 localhost [all])", "|here=2.0-1||", ""},
		{"upgrade with dependencies", "here", "Inst dep (1 Debian:12/stable [amd64]) []\nInst here [1.1-1] (2.0-1 localhost [all])", "dep=1|here=2.0-1||", ""},
		{"downgrade that was asked for", "down", "Inst down [2] (1 localhost [amd64])", "||down=1|", ""},
		{"downgrade of another", "here", "Inst here [1.1-1] (2 x [all])\nInst down [2] (1 x [amd64])", "|here=2|down=1|", "broken"},
		{"would remove another", "new", "Remv other [1]\nInst new (1 x [all])", "new=1|||other", "would-remove"},
		{"held itself", "stuck", "Inst stuck [1] (2 x [amd64])", "|stuck=2||", "held"},
		{"held dependency", "here", "Inst stuck [1] (2 x [amd64])\nInst here [1.1-1] (2 x [all])", "|here=2 stuck=2||", "held"},
		{"remove", "other", "Remv other [1]", "|||other", ""},
		{"remove takes another", "other", "Remv here [1.1-1]\nRemv other [1] [x:amd64 ]", "|||here other", "would-remove"},
		{"remove takes along what leaves too", "other", "Remv leaving [1]\nRemv other [1]", "|||leaving other", ""},
		{"remove takes along what leaves and what does not", "other", "Remv leaving [1]\nRemv here [1.1-1]\nRemv other [1]", "|||here leaving other", "would-remove"},
		{"comes in the place of what leaves", "new", "Remv leaving [1]\nInst new (1 x [all])", "new=1|||leaving", ""},
		{"remove held", "stuck", "Remv stuck [1]", "|||stuck", "held"},
		{"reinstall", "again", "Inst again [1] (1 x [amd64])", "again=1|||", ""},
		{"foreign", "lib:i386", "Inst lib:i386 (3 x [i386])", "lib:i386=3|||", ""},
	}
	for _, tt := range tests {
		s, steps := classify(tt.out+"\n", db)
		e, err := db.find(strings.Split(tt.target, ":")[0], "", func() (string, error) { return "amd64", nil })
		if err != nil {
			t.Fatal(err)
		}
		judge(&s, steps, db, e, tt.target, []string{"leaving"})
		got := strings.Join([]string{strings.Join(s.Installs, " "), strings.Join(s.Upgrades, " "), strings.Join(s.Downgrades, " "), strings.Join(s.Removes, " ")}, "|")
		reason := ""
		if s.Reason != nil {
			reason = s.Reason.Code
		}
		if got != tt.want || reason != tt.reason {
			t.Errorf("%s: %s (%s %v), want %s (%s)", tt.name, got, reason, s.Reason, tt.want, tt.reason)
		}
	}
}

func TestAPatternIsNotItsMatch(t *testing.T) {
	out := "Inst gyrum-prober (2.0-1 localhost [all])\nInst libgpp (1 x [all])\n"
	steps := parseSteps(out)
	for name, want := range map[string]bool{"gyrum-prober": true, "gyrum-prober:amd64": true, "g++": false, "gyrum.prober": false, "libgpp": true, "libgpp-": false} {
		if steps.installs(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	foreign := parseSteps("Inst lib:i386 (3 x [i386])\n")
	if !foreign.installs("lib:i386") || foreign.installs("lib:amd64") {
		t.Error("architectures are mixed up")
	}
}

func TestWhatIsHeldInTheWay(t *testing.T) {
	db := newDatabase([]*entry{{name: "lib1", want: "hold", flag: "ok", status: "installed"}, {name: "lib2", want: "install", flag: "ok", status: "installed"}})
	const out = "The following packages have unmet dependencies:\n app1 : Depends: lib1 (>= 2) but 1 is to be installed\n        Depends: lib1:any\n        PreDepends: lib2 (>= 2)\n"
	if got := heldNeeds(out, db); !reflect.DeepEqual(got, []string{"lib1"}) {
		t.Errorf("%v", got)
	}
}

func TestAFailureIsToldWithoutTheProgressBeforeIt(t *testing.T) {
	const said = "Reading package lists...\n0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.\nGet:1 file:/srv ./ a 1 [704 B]\n(Reading database ... 7184 files)\n" +
		"Setting up a (1) ...\noh no\ndpkg: error processing package a (--configure):\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n"
	const want = "Setting up a (1) ... / oh no / dpkg: error processing package a (--configure): / E: Sub-process /usr/bin/dpkg returned an error code (1); /var/log/apt/term.log has all of it"
	if got := failure(said); !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
}

func TestShowpkg(t *testing.T) {
	const out = `Package: tiny-a
Versions: 
1.0 (/var/lib/apt/lists/_srv_repo_._Packages) (/var/lib/dpkg/status)
 Description Language: 
                 File: /var/lib/apt/lists/_srv_repo_._Packages
                  MD5: 4a5dac7bfe21c4e5a37d14def7973424
0.9 (/var/lib/dpkg/status)

Reverse Depends: 
  tiny-b,tiny-a
Dependencies: 
1.0 - 
Provides: 
1.0 - 
Reverse Provides: 
Package: tiny-virtual
Versions: 

Reverse Depends: 
Dependencies: 
Provides: 
Reverse Provides: 
tiny-virtual-provider 1.0 (= )
tiny-virtual-provider 1.1 (= )
other:i386 1.0 (= 2)
`
	if got, want := parseShowpkg(out, "tiny-a"), (known{versions: []string{"1.0", "0.9"}, available: []string{"1.0"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got, want := parseShowpkg(out, "tiny-virtual"), (known{providers: []string{"tiny-virtual-provider", "other"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := parseShowpkg(out, "tiny"); !reflect.DeepEqual(got, known{}) {
		t.Errorf("%+v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a\tall\tinstall\tok\tinstalled\t1\t\t\tx (= 1), y\n")
	f.Add("Inst a [1] (2 x [all])\nRemv b [1]\n")
	f.Add("Package: a\nVersions: \n1 (/lists/)\nReverse Provides: \nb 1\n")
	f.Fuzz(func(t *testing.T, s string) {
		entries, err := parse(s)
		if err == nil {
			for _, e := range entries {
				if e.name == "" {
					t.Error("a package without a name")
				}
			}
		}
		for _, st := range parseSteps(s) {
			if st.remove != (st.version == "") && st.remove {
				t.Error("a removal with a version")
			}
		}
		parseShowpkg(s, "a")
	})
}
