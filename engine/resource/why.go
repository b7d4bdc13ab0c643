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
	name := named(id)
	var said []string
	for _, s := range sentences(description, name) {
		if name.MatchString(s) && letters(name.ReplaceAllString(s, "")) >= enough {
			said = append(said, s)
		}
	}
	if len(said) > 0 {
		return strings.Join(said, " "), true
	}
	words := strings.Join(strings.Fields(description), " ")
	if words == "" {
		return "the role has no description that says why", false
	}
	if runes := []rune(words); len(runes) > shown {
		words = string(runes[:shown]) + "…"
	}
	return "no sentence in the role's description names it and says why; the description: " + words, false
}

const (
	// enough is how many letters a sentence has beside the name at least: "Runs sync." is no reason.
	enough = 6
	// shown is how many characters of a description without a reason are shown.
	shown = 200
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
