package process

import (
	"os"
	"slices"
	"strings"
)

// standard is where programs live, in the order of a Debian root login.
var standard = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Path is the PATH for programs that gyrum calls on its own behalf: our own PATH, completed by the standard folders.
// dpkg refuses to work without sbin, which the PATH of a timer or of an ordinary user often lacks.
func Path() string {
	var dirs []string
	for _, d := range append(strings.Split(os.Getenv("PATH"), ":"), standard...) {
		if strings.HasPrefix(d, "/") && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, ":")
}

// Tool is the environment for a tool whose output gyrum reads: the C locale, so that words are what they are
// documented to be, and of our own environment only the variables named in keep.
func Tool(keep ...string) []string {
	env := []string{"HOME=" + home(), "LC_ALL=C.UTF-8", "PATH=" + Path()}
	for _, k := range keep {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// Plain is the environment of a declared command: PATH, HOME and LANG, and what the resource adds, which wins.
func Plain(declared map[string]string) []string {
	all := map[string]string{"PATH": strings.Join(standard, ":"), "HOME": home(), "LANG": "C.UTF-8"}
	for k, v := range declared {
		all[k] = v
	}
	var env []string
	for k, v := range all {
		env = append(env, k+"="+v)
	}
	slices.Sort(env)
	return env
}

// home is root's home for root, whatever HOME says under sudo or in a timer.
func home() string {
	if h, err := os.UserHomeDir(); err == nil && os.Geteuid() != 0 {
		return h
	}
	return "/root"
}

// pathOf gives the folders of the PATH in env; the last entry wins, as in exec.
func pathOf(env []string) []string {
	path := strings.Join(standard, ":")
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			path = v
		}
	}
	return strings.FieldsFunc(path, func(r rune) bool { return r == ':' })
}
