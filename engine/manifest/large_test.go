package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest"
)

// large writes a catalog of roles with five resources each and hosts with ten roles each.
func large(t testing.TB, roles, hosts int) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"hosts", "host-roles"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for i := range roles {
		names = append(names, fmt.Sprintf("r%d", i))
		requires := ""
		if i%10 > 0 {
			requires = fmt.Sprintf("r%d", i-i%10)
		}
		write(t, fmt.Sprintf("%s/host-roles/r%d.yaml", dir, i), fmt.Sprintf(`role: r%[1]d
version: 1
description: generated
requires: [%[2]s]
resources:
  - {type: package, name: p%[1]d}
  - {type: file, path: /etc/f/%[1]d.conf, content: "text %[1]d\n", mode: "0640", group: adm}
  - {type: directory, path: /etc/d/%[1]d}
  - {type: env, path: /etc/default/e%[1]d, vars: {A: "1", B: two, C_TOKEN: {secret_ref: "file:/etc/gyrum/secrets/c"}}}
  - {type: systemd_unit, name: u%[1]d.service, state: started, enabled: true, restart_on: ["file:/etc/f/%[1]d.conf"]}
`, i, requires))
	}
	write(t, dir+"/catalog.yaml", "roles: ["+strings.Join(names, ", ")+"]\n")
	for h := range hosts {
		from := h * 10 % roles
		write(t, fmt.Sprintf("%s/hosts/h%d.yaml", dir, h), fmt.Sprintf("name: h%d\nroles: [%s]\n", h, strings.Join(names[from:from+10], ", ")))
	}
	return dir
}

func TestLargeCatalogIsValid(t *testing.T) {
	c := open(t, large(t, 1000, 200))
	if fs := c.Validate(); len(fs) > 0 {
		t.Fatalf("%d findings, first %s", len(fs), fs[0])
	}
	p, fs := c.Host("h7")
	if p == nil || len(p.Resources) != 50 {
		t.Fatalf("%v", lines(fs))
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("%d roles", n), func(b *testing.B) {
			dir := large(b, n, n/5)
			b.ReportAllocs()
			for b.Loop() {
				c, err := manifest.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				if fs := c.Validate(); len(fs) > 0 {
					b.Fatal(fs[0])
				}
				c.Close()
			}
		})
	}
}

func BenchmarkHost(b *testing.B) {
	var files strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&files, "  - type: file\n    path: /etc/g/%d.conf\n    content: |\n      # file %d\n      key = value\n    mode: \"0640\"\n    owner: root\n    group: adm\n", i, i)
	}
	for name, resources := range map[string]string{"one resource": "  - {type: package, name: curl}\n", "1000 files": files.String()} {
		b.Run(name, func(b *testing.B) {
			dir := one(b, resources)
			b.ReportAllocs()
			for b.Loop() {
				c, err := manifest.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				if p, fs := c.Host("t"); p == nil {
					b.Fatal(fs)
				}
				c.Close()
			}
		})
	}
}
