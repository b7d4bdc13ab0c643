// Command pluginbuild builds the modules of every resource type into plugins/dist, with the exported plugin.cue of each,
// and keeps plugins/dist/SHA256SUMS. Run it in the repository:
//
//	go run ./tools/pluginbuild          builds what is out of date and brings SHA256SUMS up to date
//	go run ./tools/pluginbuild -check   builds what is out of date and fails when SHA256SUMS says otherwise
//	go run ./tools/pluginbuild -fresh   builds everything, whatever was built before
//
// The same sources give the same bytes in any folder, but only with the same Go version; dist/GOVERSION names it. With
// another version the modules work as well, and SHA256SUMS is left as it is unless -adopt says to take that version over.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	root := flag.String("root", ".", "the repository")
	check := flag.Bool("check", false, "fail when the modules are not those of SHA256SUMS")
	fresh := flag.Bool("fresh", false, "build everything anew")
	adopt := flag.Bool("adopt", false, "write SHA256SUMS also when this Go is another version than it was made with")
	quiet := flag.Bool("q", false, "say nothing when all is well")
	jobs := flag.Int("j", 2, "modules to build at once")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "pluginbuild: it takes flags only; see -help")
		os.Exit(64)
	}
	start := time.Now()
	b, err := newBuild(*root)
	if err == nil {
		err = b.run(*jobs, *fresh)
	}
	var said string
	if err == nil {
		said, err = b.sums(*check, *adopt)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pluginbuild:", err)
		os.Exit(1)
	}
	if !*quiet {
		fmt.Printf("%d modules, %d of them built anew in %.1f s; %s\n", len(b.modules), b.built, time.Since(start).Seconds(), said)
	}
}
