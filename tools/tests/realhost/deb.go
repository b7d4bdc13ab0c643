package realhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Deb describes a Debian package that is made on the spot.
type Deb struct {
	Name, Version string
	// Arch is the architecture, "all" where empty.
	Arch string
	// Control lists further lines of the control file, such as "Depends: other".
	Control []string
	// Files maps absolute paths to contents; a path in a bin folder becomes executable.
	Files map[string]string
	// Conffiles lists the paths of Files that are conffiles.
	Conffiles []string
	// Scripts maps postinst, prerm and so on to shell commands.
	Scripts map[string]string
}

func (d Deb) arch() string {
	if d.Arch == "" {
		return "all"
	}
	return d.Arch
}

func (d Deb) fileName() string {
	return fmt.Sprintf("%s_%s_%s.deb", d.Name, strings.ReplaceAll(d.Version, ":", "%3a"), d.arch())
}

func (d Deb) control() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: Test <test@example.org>\n", d.Name, d.Version, d.arch())
	for _, line := range d.Control {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b, "Description: test package")
	return b.String()
}

// build writes the package into dir.
func (d Deb) build(ctx context.Context, dir string) error {
	tree, err := os.MkdirTemp("", "deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.Chmod(tree, 0o755); err != nil {
		return err
	}
	files := map[string]string{"DEBIAN/control": d.control()}
	if len(d.Conffiles) > 0 {
		files["DEBIAN/conffiles"] = strings.Join(d.Conffiles, "\n") + "\n"
	}
	for name, body := range d.Scripts {
		files["DEBIAN/"+name] = "#!/bin/sh\nset -e\n" + body + "\n"
	}
	for name, body := range d.Files {
		files[name] = body
	}
	for name, body := range files {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if _, script := d.Scripts[filepath.Base(name)]; script && strings.HasPrefix(name, "DEBIAN/") || strings.HasSuffix(filepath.Dir(name), "bin") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(body), mode); err != nil {
			return err
		}
	}
	return run(ctx, "dpkg-deb", "-Zgzip", "--root-owner-group", "-b", tree, filepath.Join(dir, d.fileName()))
}

// writeRepository builds the packages into dir and indexes it as a flat apt repository, with the packages that lie there.
func writeRepository(ctx context.Context, dir string, packages []Deb) error {
	for _, d := range packages {
		if err := d.build(ctx, dir); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	var index bytes.Buffer
	for _, file := range files {
		control, err := exec.CommandContext(ctx, "dpkg-deb", "--field", file).Output()
		if err != nil {
			return fmt.Errorf("dpkg-deb --field %s: %w", file, err)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(raw)
		fmt.Fprintf(&index, "%s\nFilename: ./%s\nSize: %d\nSHA256: %s\n\n", bytes.TrimSpace(control), filepath.Base(file), len(raw), hex.EncodeToString(sum[:]))
	}
	return os.WriteFile(filepath.Join(dir, "Packages"), index.Bytes(), 0o644)
}
