package corpus

import (
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/plugins/guest"
)

// Plugin is a type to play cases with, natively or as modules: each phase takes a request of the boundary and gives its
// output and status. Ask answers a capability while a phase runs.
type Plugin struct {
	Observe func(ask Ask, request []byte) (output []byte, status int32)
	Diff    func(request []byte) (output []byte, status int32)
	Apply   func(ask Ask, request []byte) (output []byte, status int32)
}

// Ask answers one capability.
type Ask func(capability string, request []byte) (reply []byte)

// Play plays one case and lists what is not as the case wants it.
func Play(p Plugin, c Case) []string {
	g := &game{c: c}
	observation := g.one(p.observe(g.ask, c.Declared))
	if c.Expect["want"] == "unobservable" {
		g.unobservable(observation)
		return g.wrong
	}
	if u := observation.Get("unobservable"); !u.IsNull() {
		g.fail("unobservable: %s", u.GetText("text"))
		return g.wrong
	}
	g.json("observed", observation.Get("observed"))
	if want, expected := g.c.Expect["inputs"]; expected && want != strings.Join(observation.Get("inputs").Texts(), ", ") {
		g.fail("inputs: %s", guest.Encode(observation.Get("inputs")))
	}
	g.changing(observation)
	decision := g.one(p.diff(c, observation))
	g.decision(decision)
	if g.wrong == nil && (len(c.Does) > 0 || c.Expect["fails"] != "") {
		g.apply(p, observation, decision)
	}
	return g.wrong
}

type game struct {
	c     Case
	wrong []string
	did   []string
}

func (g *game) fail(format string, args ...any) {
	g.wrong = append(g.wrong, fmt.Sprintf(format, args...))
}

func (g *game) ask(capability string, request []byte) []byte {
	reply, ok := g.reply(capability, request)
	if !ok {
		g.fail("%s %s was asked and the case has no reply", capability, request)
		return []byte(`{"error":{"code":"invalid","text":"the case has no reply"}}`)
	}
	return guest.Encode(reply)
}

// reply finds what the case answers: for a field that the request has, if it says so, else for the capability.
func (g *game) reply(capability string, request []byte) (guest.Value, bool) {
	if asked, err := guest.Decode(request); err == nil {
		for _, f := range asked.Fields() {
			if reply, ok := g.c.Replies[capability+"?"+f.Name]; ok {
				return reply, true
			}
		}
	}
	reply, ok := g.c.Replies[capability]
	return reply, ok
}

// do records an effect; it succeeds unless the case gives a reply.
func (g *game) do(capability string, request []byte) []byte {
	g.did = append(g.did, capability+" "+string(request))
	if reply, ok := g.c.Replies[capability]; ok {
		return guest.Encode(reply)
	}
	return []byte("{}")
}

func (p Plugin) observe(ask Ask, declared guest.Value) ([]byte, int32) {
	return p.Observe(ask, guest.Encode(guest.Object().With("resources", guest.List(declared))))
}

func (p Plugin) diff(c Case, o guest.Value) ([]byte, int32) {
	in := guest.Object().With("declared", c.Declared).With("observed", o.Get("observed")).With("facts", o.Get("facts")).
		With("changing", merge(guest.Object(), c.Changing))
	return p.Diff(guest.Encode(guest.Object().With("resources", guest.List(in))))
}

// one takes the only result of a batch.
func (g *game) one(output []byte, status int32) guest.Value {
	v, err := guest.Decode(output)
	if err != nil || status != guest.StatusAnswer || len(v.Get("results").Items()) != 1 {
		g.fail("status %d, output %s", status, output)
		return guest.Null
	}
	return v.Get("results").Items()[0]
}

func (g *game) unobservable(o guest.Value) {
	u := o.Get("unobservable")
	switch {
	case u.IsNull():
		g.fail("it was observed: %s", guest.Encode(o))
	case u.GetText("code") != "unobservable" || !o.Get("observed").IsNull():
		g.fail("not as an unobservable resource is to be: %s", guest.Encode(o))
	}
	g.part("text", u.GetText("text"))
}

// changing makes sure that the engine would tell the plugin of what the case says is changing.
func (g *game) changing(o guest.Value) {
	for _, input := range g.c.Changing.Get("inputs").Texts() {
		if !slices.Contains(o.Get("inputs").Texts(), input) {
			g.fail("the observation does not name the input %s: %s", input, guest.Encode(o.Get("inputs")))
		}
	}
	if len(g.c.Changing.Get("package").Items()) > 0 && !o.Get("package_may_start").True() {
		g.fail("the observation does not ask for packages")
	}
}

func (g *game) decision(d guest.Value) {
	got := "in sync"
	if !d.IsNull() {
		got = d.GetText("verb") + " " + d.GetText("severity") + " " + d.Get("reason").GetText("code")
	}
	if want := g.c.Expect["want"]; got != want {
		g.fail("it says %q (%s)", got, guest.Encode(d))
		return
	}
	if d.IsNull() {
		return
	}
	g.json("params", d.Get("params"))
	for _, key := range []string{"blocked", "note"} {
		if _, expected := g.c.Expect[key]; !expected && d.Has(key) {
			g.fail("%s: %s", key, d.GetText(key))
		}
		g.part(key, d.GetText(key))
	}
	g.part("text", d.Get("reason").GetText("text"))
	var needs []string
	for _, n := range d.Get("needs").Items() {
		needs = append(needs, n.GetText("kind")+" "+n.GetText("name"))
		if n.GetText("text") == "" {
			g.fail("a need without a text")
		}
	}
	if got := strings.Join(needs, ", "); got != g.c.Expect["needs"] {
		g.fail("needs: %s", got)
	}
	if repeats := d.Has("idempotent"); repeats != (d.GetText("severity") == "warn" && d.GetText("verb") == "run") {
		g.fail("idempotent: %v", repeats)
	}
	g.complete(d)
}

// complete is what holds of every decision: it says why, and only an error is blocked.
func (g *game) complete(d guest.Value) {
	if d.Get("reason").GetText("text") == "" {
		g.fail("a reason without a text")
	}
	if d.Has("blocked") && d.GetText("severity") != "error" {
		g.fail("blocked and of severity %s", d.GetText("severity"))
	}
}

func (g *game) part(key, got string) {
	if want, expected := g.c.Expect[key]; expected && !strings.Contains(got, want) || expected && want == "" {
		g.fail("%s: %q does not contain %q", key, got, want)
	}
}

// json compares a whole value; for params no line means that there are none.
func (g *game) json(key string, got guest.Value) {
	line, expected := g.c.Expect[key]
	if !expected {
		if key == "params" && len(got.Fields()) > 0 {
			g.fail("params: %s", guest.Encode(got))
		}
		return
	}
	want, err := guest.Decode([]byte(line))
	if err != nil {
		g.fail("%s: %s", key, err.Text)
		return
	}
	if string(guest.Encode(want)) != string(guest.Encode(got)) {
		g.fail("%s: %s", key, guest.Encode(got))
	}
}

func (g *game) apply(p Plugin, o, d guest.Value) {
	action := guest.Record("verb", d.GetText("verb")).With("params", d.Get("params"))
	request := guest.Object().With("declared", g.c.Declared).With("observed", o.Get("observed")).With("facts", o.Get("facts")).With("action", action)
	output, status := p.Apply(g.doOrAsk, guest.Encode(request))
	if !slices.Equal(g.did, g.c.Does) {
		g.fail("it does\n\t%s", strings.Join(g.did, "\n\t"))
	}
	answer, err := guest.Decode(output)
	if err != nil {
		g.fail("apply: %s", err.Text)
		return
	}
	want, fails := g.c.Expect["fails"]
	text := answer.Get("error").GetText("text")
	if fails != (status == guest.StatusError) || !strings.Contains(text, want) {
		g.fail("apply: status %d, %s", status, output)
	}
}

// doOrAsk serves the phase apply: what the case names under does is an effect, anything else a question.
func (g *game) doOrAsk(capability string, request []byte) []byte {
	for _, line := range g.c.Does {
		if name, _, _ := strings.Cut(line, " "); name == capability {
			return g.do(capability, request)
		}
	}
	if _, ok := g.c.Replies[capability]; !ok {
		return g.do(capability, request)
	}
	return g.ask(capability, request)
}
