// Package term tells what a file descriptor and the environment can show, and draws the one line of progress. It knows
// terminals and nothing that is shown on them.
package term

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// IsTerminal says whether a person may be looking at f.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Width is the number of columns of f, 0 when it is no terminal or does not say.
func Width(f *os.File) int {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(ws.Col)
}

// Color says whether to colour what goes to f: a terminal that is not dumb, and no NO_COLOR (https://no-color.org).
func Color(f *os.File, getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && IsTerminal(f)
}

// UTF8 says whether the locale's characters are UTF-8. Without any locale variable they are taken to be: such an
// environment is a service's or a container's, and their logs and terminals are UTF-8.
func UTF8(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(key); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
