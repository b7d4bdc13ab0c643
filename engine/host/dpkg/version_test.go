package dpkg

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareTable(t *testing.T) {
	// Each row is in ascending order; a "=" stands before a version that equals the one before it.
	rows := []string{
		"1.0~~ 1.0~~a 1.0~ 1.0 =1.0-0 =0:1.0 1.0-1 1.0-1a 1.0-1+b1 1.0-1.1 1.0a 1.0+x 1.0.1 1:0.1",
		"2.0~rc1-1 2.0-1~bpo11+1 2.0-1 2.0-2 2.0-10 2.0-1-1",
		"1.2 =1.02 1.10 1.100",
		"1a =1a0 1a1 =01a1",
		"1.0a 1.0b 1.0+ 1.0-a-1 1.0.",
		"9 10 99999999999999999999 100000000000000000000",
		"1.0-1ubuntu0.9 1.0-1ubuntu0.10",
		"0.0~git2019 0.0+git 1:0.0 2:0",
	}
	for _, row := range rows {
		prev := ""
		for _, f := range strings.Fields(row) {
			v, equal := strings.CutPrefix(f, "=")
			if prev != "" {
				want := -1
				if equal {
					want = 0
				}
				check(t, prev, v, want)
				check(t, v, prev, -want)
			}
			prev = v
		}
	}
}

func TestCompareRefusesWhatIsNoVersion(t *testing.T) {
	for _, v := range []string{"", ":", "1:", "x:1", "-1:1", "+1:1", "1-", "1 2", "1_2", "1.0-1-", "1/2", "ä", "1:-1", "99999999999:1"} {
		if _, err := Compare(v, "1"); err == nil {
			t.Errorf("%q was accepted", v)
		}
	}
}

// dpkg is the judge: any two versions compare as it says.
func TestCompareAgreesWithDpkg(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Log("no dpkg here: the table alone was tested")
		return
	}
	part := rapid.StringMatching(`[0-9][0-9a-cZ.+~]{0,5}`)
	gen := rapid.Custom(func(t *rapid.T) string {
		v := rapid.SampledFrom([]string{"", "", "0:", "1:", "10:"}).Draw(t, "epoch") + part.Draw(t, "upstream")
		if rapid.Bool().Draw(t, "has revision") {
			v += "-" + rapid.StringMatching(`[0-9a-b.+~]{1,4}`).Draw(t, "revision")
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = a + rapid.SampledFrom([]string{"", "~", "0", "a", "+", ".0", "1"}).Draw(t, "suffix")
		}
		want := 1
		switch {
		case exec.Command(dpkg, "--compare-versions", a, "lt", b).Run() == nil:
			want = -1
		case exec.Command(dpkg, "--compare-versions", a, "eq", b).Run() == nil:
			want = 0
		}
		got, err := Compare(a, b)
		if err != nil || got != want {
			t.Fatalf("Compare(%q, %q) = %d, %v; dpkg says %d", a, b, got, err, want)
		}
	})
}

func check(t *testing.T, a, b string, want int) {
	t.Helper()
	if got, err := Compare(a, b); err != nil || got != want {
		t.Errorf("Compare(%q, %q) = %d, %v; want %d", a, b, got, err, want)
	}
}
