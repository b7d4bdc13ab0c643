package text

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/engine/drift"
)

// part is one thing that an action changes: a label alone ("create"), a label and a value ("mode 0640"), or a label and
// a change ("mode 0600 → 0640").
type part struct{ label, from, to string }

// record is a declared or observed record, or an action's params.
type record map[string]json.RawMessage

func toRecord(raw json.RawMessage) record {
	var r record
	if json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return r
}

// str gives a scalar field as people read it: strings bare, the rest as JSON has it; "" when missing, null or nested.
func (r record) str(key string) string {
	raw := r[key]
	if len(raw) == 0 || string(raw) == "null" || raw[0] == '{' || raw[0] == '[' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (r record) is(key string) bool { return string(r[key]) == "true" }

func (r record) has(key string) bool { _, ok := r[key]; return ok }

func (r record) record(key string) record { return toRecord(r[key]) }

func (r record) int(key string) (n int64, ok bool) {
	return n, r.has(key) && json.Unmarshal(r[key], &n) == nil
}

// name is the part of an id after its type: the path, the package, the unit, the slug.
func name(ref drift.ResourceRef) string {
	_, n, ok := strings.Cut(ref.ID, ":")
	if !ok {
		return Clean(ref.ID)
	}
	return Clean(n)
}

// sign picks the glyph of a planned item.
func sign(it drift.Item) glyph {
	if it.Severity == drift.SeverityError || it.Blocked != "" {
		return gError
	}
	params := toRecord(it.Action.Params)
	switch it.Action.Verb {
	case drift.Install:
		return gAdd
	case drift.Remove:
		return gRemove
	case drift.Write:
		if o := toRecord(it.Observed); o == nil || o.has("exists") && !o.is("exists") {
			return gAdd
		}
		return gChange
	case drift.Upgrade, drift.Chmod, drift.Chown:
		return gChange
	case drift.Start:
		if params.is("restart") || reloads(it) {
			return gRestart
		}
		return gStart
	case drift.Enable, drift.Run:
		return gStart
	case drift.Stop, drift.Disable:
		return gStop
	}
	return gNote
}

// reloads says that all an item does is to have systemd read a unit's files anew.
func reloads(it drift.Item) bool { return it.Reason.Code == "reload-needed" }

// describe lists what an item's action changes. Strings are clean.
func (s Style) describe(it drift.Item) []part {
	d, o, p := toRecord(it.Declared), toRecord(it.Observed), toRecord(it.Action.Params)
	if it.Action.Verb == drift.Noop {
		return nil
	}
	var parts []part
	switch it.Resource.Type {
	case "package":
		parts = describePackage(it.Action.Verb, d, o, p)
	case "file":
		parts = s.describePath("file", it.Action.Verb, d, o, p)
	case "directory":
		parts = s.describePath("directory", it.Action.Verb, d, o, p)
	case "systemd_unit":
		parts = describeUnit(it, o, p)
	case "env":
		parts = s.describeEnv(it.Action.Verb, d, o, p)
	case "command":
		parts = s.describeCommand(d)
	case "symlink":
		parts = describeLink(it.Action.Verb, d, o, p)
	case "line":
		parts = s.describeLine(it.Action.Verb, d, p)
	case "user", "group":
		parts = describeAccount(it.Action.Verb, d, p)
	default:
		parts = append([]part{{label: string(it.Action.Verb)}}, describeFields(d, o)...)
	}
	for i, q := range parts {
		parts[i] = part{Clean(q.label), Clean(q.from), Clean(q.to)}
	}
	return parts
}

func describePackage(verb drift.Verb, d, o, p record) []part {
	from, to := p.str("from"), p.str("to")
	if v := d.str("version"); to == "" && v != "present" {
		to = v // an exact version is declared
	}
	var parts []part
	switch verb {
	case drift.Install:
		parts = []part{{label: "install", to: to}}
	case drift.Upgrade:
		label := "version"
		if p.is("downgrade") {
			label = "downgrade"
		}
		parts = []part{{label, from, to}}
	case drift.Remove:
		parts = []part{{label: "remove", to: from}}
	default:
		parts = []part{{label: string(verb)}}
	}
	if w := o.str("status"); w != "" && !o.is("installed") && !strings.HasSuffix(w, "not-installed") {
		parts = append(parts, part{label: "dpkg says", to: w})
	}
	return parts
}

func (s Style) describePath(kind string, verb drift.Verb, d, o, p record) []part {
	present := o != nil && (!o.has("exists") || o.is("exists"))
	is := o.str("kind")
	if is == "" {
		is = kind
	}
	if verb == drift.Remove {
		parts := []part{{label: "remove", to: is}}
		if n, ok := o.int("size"); ok && is == "file" {
			parts = append(parts, part{to: bytesText(n)})
		}
		return parts
	}
	var parts []part
	if !present || is != kind {
		if present {
			from := is
			if t := o.str("target"); t != "" {
				from += " to " + t
			}
			parts = append(parts, part{"", from, kind})
		} else {
			parts = append(parts, part{label: "create"})
		}
		if n, ok := contentSize(d); ok {
			parts = append(parts, part{to: bytesText(n)})
		} else if ref := secretRef(d["content"]); ref != "" {
			parts = append(parts, part{label: "content from secret", to: ref})
		}
		return append(parts, part{label: "mode", to: d.str("mode")}, part{to: d.str("owner") + ":" + d.str("group")})
	}
	from := p.record("from")
	if from == nil {
		from = o // an action that does not say what it changes: whatever is not as declared
	}
	if ref := secretRef(d["content"]); ref != "" {
		if w := o.str("sha256"); w != "" && w != "match" {
			parts = append(parts, part{label: "content differs from secret", to: ref})
		}
	} else if want, have := contentDigest(d), from.str("sha256"); want != "" && have != "" && have != want {
		parts = append(parts, part{"content", short(have), short(want)})
	}
	for _, key := range []string{"mode", "owner", "group"} {
		if have, want := from.str(key), d.str(key); have != "" && have != want {
			parts = append(parts, part{key, have, want})
		}
	}
	return parts
}

func describeUnit(it drift.Item, o, p record) []part {
	verb := it.Action.Verb
	active := o.str("active_state")
	if sub := o.str("sub_state"); sub != "" && sub != active && active != "" {
		active += " (" + sub + ")"
	}
	var parts []part
	switch {
	case reloads(it):
		return []part{{label: "daemon-reload"}}
	case verb == drift.Start && p.is("restart"):
		parts = append(parts, part{label: "restart"})
	case verb == drift.Start && active == "":
		parts = append(parts, part{label: "start"})
	case verb == drift.Start:
		parts = append(parts, part{"", active, "started"})
	case verb == drift.Stop && active == "":
		parts = append(parts, part{label: "stop"})
	case verb == drift.Stop:
		parts = append(parts, part{"", active, "stopped"})
	}
	if p.is("daemon_reload") {
		parts = append([]part{{label: "daemon-reload"}}, parts...)
	}
	want, label := "", ""
	switch {
	case verb == drift.Enable || p.is("enable"):
		want, label = "enabled", "enable"
	case verb == drift.Disable || string(p["enable"]) == "false":
		want, label = "disabled", "disable"
	}
	switch from := o.str("unit_file_state"); {
	case want == "" || from == want:
	case from == "":
		parts = append(parts, part{label: label})
	default:
		parts = append(parts, part{"", from, want})
	}
	return parts
}

// describeEnv names the variables; a value is shown only where the report itself carries it, which it never does for a
// secret or for a variable that is not declared.
func (s Style) describeEnv(verb drift.Verb, d, o, p record) []part {
	parts := s.describePath("file", verb, d, o, p)
	present := o != nil && (!o.has("exists") || o.is("exists"))
	want, have := d.record("vars"), o.record("vars")
	if verb == drift.Remove {
		return []part{{label: "remove", to: count(len(have), "variable", "variables")}}
	}
	if !present || have == nil {
		names := slices.Sorted(keys(want))
		return slices.Insert(parts, min(1, len(parts)), part{to: s.clip(strings.Join(names, " "), 60)})
	}
	var vars []part
	for _, k := range slices.Sorted(keys(want)) {
		ref := secretRef(want[k])
		switch is := have.str(k); {
		case !have.has(k) || ref != "" && is == "absent":
			vars = append(vars, part{label: "+" + k})
		case ref != "" && is != "match":
			vars = append(vars, part{label: "~" + k + " differs from secret", to: ref})
		case ref == "" && is != want.str(k):
			vars = append(vars, part{"~" + k, s.clip(quoteEmpty(is), 32), s.clip(quoteEmpty(want.str(k)), 32)})
		}
	}
	for _, k := range slices.Sorted(keys(have)) {
		if !want.has(k) {
			vars = append(vars, part{label: "-" + k})
		}
	}
	const shown = 6
	if len(vars) > shown+1 {
		vars = append(vars[:shown], part{label: fmt.Sprintf("and %d more", len(vars)-shown)})
	}
	return append(vars, parts...)
}

func quoteEmpty(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

func (s Style) describeCommand(d record) []part {
	run := d.str("run")
	if run == "" {
		var argv []string
		if json.Unmarshal(d["run"], &argv) == nil {
			for i, a := range argv {
				argv[i] = ShellQuote(a)
			}
			run = strings.Join(argv, " ")
		}
	}
	first, rest, more := strings.Cut(strings.TrimSpace(run), "\n")
	if first = s.clip(first, 60); more && strings.TrimSpace(rest) != "" {
		first += " [" + count(1+strings.Count(strings.TrimRight(rest, "\n"), "\n")+1, "line", "lines") + "]"
	}
	parts := []part{{label: "run", to: first}}
	if c := d.str("creates"); c != "" {
		parts = append(parts, part{label: "creates", to: c})
	}
	return parts
}

// describeFields compares the scalar fields that both records have: what is left to say of a type of no known shape.
func describeFields(d, o record) []part {
	var parts []part
	for _, k := range slices.Sorted(keys(d)) {
		if from, to := o.str(k), d.str(k); o.has(k) && from != to && from != "" && to != "" {
			parts = append(parts, part{k, from, to})
		}
	}
	return parts
}

// contentDigest is the sha256 that a declared file is to have; "" when it declares none or a secret.
func contentDigest(d record) string {
	if h := d.str("sha256"); h != "" {
		return h
	}
	if c := d.record("content"); c != nil {
		return c.str("sha256")
	}
	if d.has("content") {
		sum := sha256.Sum256([]byte(d.str("content")))
		return hex.EncodeToString(sum[:])
	}
	return ""
}

func contentSize(d record) (int64, bool) {
	if n, ok := d.int("size"); ok {
		return n, true
	}
	if c := d.record("content"); c != nil {
		return c.int("size")
	}
	if d.has("content") {
		return int64(len(d.str("content"))), true
	}
	return 0, false
}

func secretRef(raw json.RawMessage) string { return toRecord(raw).str("secret_ref") }

// short gives enough of a digest to tell two apart.
func short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	if len(digest) > 7 {
		return digest[:7]
	}
	if digest == "" {
		return "none"
	}
	return digest
}

func keys(r record) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range r {
			if !yield(k) {
				return
			}
		}
	}
}

// ShellQuote writes an argument as a shell reads it back.
func ShellQuote(a string) string {
	plain := a != "" && strings.IndexFunc(a, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r))
	}) < 0
	if plain {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
