package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/engine/plugin"
)

// version is set when a release is built: -ldflags '-X main.version=1.2.3'.
var version = "devel"

type versionInfo struct {
	Version  string       `json:"version"`
	Revision string       `json:"revision,omitempty"`
	Go       string       `json:"go"`
	Wazero   string       `json:"wazero"`
	Boundary string       `json:"boundary"`
	Platform string       `json:"platform"`
	Types    []moduleInfo `json:"types"`
}

type moduleInfo struct {
	Type    string `json:"type"`
	Observe string `json:"observe"`
	Apply   string `json:"apply"`
}

func newVersionCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program, its runtime and its plugins",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildInfo()
			mods, err := p.modules()
			if err != nil {
				return err
			}
			v.Types = mods
			if p.flags.format.value == formatJSON {
				return p.json(v)
			}
			fmt.Fprintf(p.out, "gyrum %s\n", strings.TrimSpace(v.Version+" "+v.Revision))
			for _, row := range [][2]string{
				{"go", v.Go}, {"wazero", v.Wazero}, {"boundary", v.Boundary}, {"platform", v.Platform},
				{"types", fmt.Sprint(len(v.Types))},
			} {
				fmt.Fprintf(p.out, "  %-9s %s\n", row[0], row[1])
			}
			if p.flags.verbose {
				for _, m := range v.Types {
					fmt.Fprintf(p.out, "    %-13s observe %s\n    %-13s apply   %s\n", m.Type, m.Observe, "", m.Apply)
				}
			}
			return nil
		},
	}
}

// buildInfo is what the linker left in the binary.
func buildInfo() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), Boundary: plugin.Boundary, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/tetratelabs/wazero" {
			v.Wazero = d.Version
			if d.Replace != nil {
				v.Wazero = cmp.Or(d.Replace.Version, d.Version)
			}
		}
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v.Revision = s.Value[:12] + v.Revision
		case s.Key == "vcs.modified" && s.Value == "true":
			v.Revision += "+dirty"
		}
	}
	return v
}
