package resource

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Why gives what a role's description says of why one of its commands runs at every apply. That is each sentence that names
// the command, by its id (command:sync) or by its name as a word of its own (sync), and says more than the name. Where there is
// none, told is false and text says what is missing. Lint judges by it and reports print it, so what the one accepts
// is what the other shows.
func Why(description, id string) (text string, told bool) {
	if len(description) > read {
		description = strings.ToValidUTF8(description[:read], "")
	}
	var said []string
	if slug := strings.TrimPrefix(id, "command:"); strings.Contains(strings.ToLower(description), strings.ToLower(slug)) {
		name := named(id)
		for _, s := range sentences(description, name) {
			if name.MatchString(s) && letters(name.ReplaceAllString(s, "")) >= enough {
				said = append(said, s)
			}
		}
	}
	if len(said) > 0 {
		return clip(strings.Join(said, " "), longest), true
	}
	words := strings.Join(strings.Fields(description), " ")
	if words == "" {
		return "the role has no description that says why", false
	}
	return "no sentence in the role's description names it and says why; the description: " + clip(words, shown), false
}

// clip cuts a text to so many characters.
func clip(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

const (
	// enough is how many letters a sentence has beside the name at least: "Runs sync." is no reason.
	enough = 6
	// read is how much of a description is looked at, in bytes; a manifest may hold megabytes of it, and thousands of commands.
	read = 16 << 10
	// longest is how many characters of a reason are shown, shown how many of a description without one.
	longest = 1000
	shown   = 200
)

func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// everyday are names of commands that descriptions use as plain words: "at every apply" names no command:apply.
var everyday = []string{"apply", "check", "command", "host", "role", "run"}

// named finds a command's names in a text. A name is no part of a longer name, a path or another id: sync-keys, /usr/bin/sync
// and file:sync name no command:sync.
func named(id string) *regexp.Regexp {
	word := regexp.QuoteMeta(id)
	if slug := strings.TrimPrefix(id, "command:"); !slices.Contains(everyday, strings.ToLower(slug)) {
		word += "|" + regexp.QuoteMeta(slug)
	}
	return regexp.MustCompile(`(?i)(?:^|[^a-z0-9_./:-])(?:` + word + `)[.:-]*(?:$|[^a-z0-9_./:-])`)
}

var (
	blankLine = regexp.MustCompile(`\n[ \t\r]*\n`)
	// bullet begins an item of a list; what comes before it is over.
	bullet = regexp.MustCompile(`(?m)^[ \t]*([-*•]|[0-9]+[.)])[ \t]+`)
	// stop ends a sentence, together with the quotes and brackets that close behind it.
	stop = regexp.MustCompile("[.!?][\"'”’)`]*[ ]+|[。！？]")
	// shortened are words whose full stop ends no sentence.
	shortened = regexp.MustCompile(`(?i)(^|[^\pL])(e\.g|i\.e|etc|vs|cf|approx|incl|resp|no)\.$`)
)

// sentences splits a text. Line breaks within a paragraph are blank space, as YAML's folded texts and wrapped lines have
// them; an item of a list begins anew. A lower-case word goes on with the sentence, unless it names the command.
func sentences(text string, name *regexp.Regexp) []string {
	var out []string
	for _, paragraph := range blankLine.Split(strings.ReplaceAll(text, "\r\n", "\n"), -1) {
		for _, part := range bullet.Split(paragraph, -1) {
			part = strings.Join(strings.Fields(part), " ")
			begin := 0
			for _, m := range stop.FindAllStringIndex(part, -1) {
				head, tail := strings.TrimSpace(part[begin:m[1]]), part[m[1]:]
				word, _, _ := strings.Cut(tail, " ")
				next, _ := utf8.DecodeRuneInString(tail)
				if shortened.MatchString(head) || (unicode.IsLower(next) || unicode.IsDigit(next)) && !name.MatchString(word) {
					continue
				}
				out = append(out, head)
				begin = m[1]
			}
			if last := strings.TrimSpace(part[begin:]); last != "" {
				out = append(out, last)
			}
		}
	}
	return out
}
