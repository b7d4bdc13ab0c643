package guest

// The severities of a decision.
const (
	// Drift is a difference that the action closes.
	Drift = "drift"
	// Warn is something to know that is no difference.
	Warn = "warn"
	// Bad is something whose action will not be executed.
	Bad = "error"
)

// Input is what diff is asked of one resource.
type Input struct {
	Declared, Observed, Facts Value
	// Inputs are those of the observation's inputs that other items of the plan change.
	Inputs []string
	// Packages are the package items that act earlier in the plan.
	Packages []string
}

// Decision is what diff says of a resource that is not in sync: the one action that closes the gap.
type Decision struct {
	// Verb is the leading change.
	Verb string
	// Params lists everything that will be done.
	Params Value
	Reason Reason
	// Severity is Drift, Warn or Bad; empty means Drift, or Bad when Blocked is set.
	Severity string
	// Repeats says that the action is not idempotent.
	Repeats bool
	// Blocked says why the action will not be executed.
	Blocked string
	// Note is for the reader only and enters no hash.
	Note string
	// Needs are what must exist before the action can work and does not now.
	Needs []Need
}

// The kinds of a Need.
const (
	NeedPath    = "path"
	NeedUser    = "user"
	NeedGroup   = "group"
	NeedUnit    = "unit"
	NeedPackage = "package"
	NeedFile    = "file"
)

// Need is one prerequisite of an action that is missing on the host.
type Need struct {
	// Kind is path (a parent directory), file (one that is never made here), user, group, unit, or package (a version that
	// apt can be asked for).
	Kind string
	// Name is the path, the account, the unit or the package.
	Name string
	// Text says why the action is blocked when nothing in the plan brings it.
	Text string
}

// Errored is a decision to do nothing about something that is wrong.
func Errored(code, text string) *Decision {
	return &Decision{Verb: "noop", Severity: Bad, Reason: Reason{code, text}}
}

func (d *Decision) value() Value {
	if d == nil {
		return Null
	}
	severity := d.Severity
	switch {
	case d.Blocked != "":
		severity = Bad
	case severity == "":
		severity = Drift
	}
	v := Record("verb", d.Verb, "severity", severity).With("reason", d.Reason.value())
	if !d.Params.IsNull() {
		v = v.With("params", d.Params)
	}
	if d.Repeats {
		v = v.With("idempotent", Bool(false))
	}
	if d.Blocked != "" {
		v = v.WithText("blocked", d.Blocked)
	}
	if d.Note != "" {
		v = v.WithText("note", d.Note)
	}
	if len(d.Needs) > 0 {
		needs := make([]Value, len(d.Needs))
		for i, n := range d.Needs {
			needs[i] = Record("kind", n.Kind, "name", n.Name, "text", n.Text)
		}
		v = v.With("needs", List(needs...))
	}
	return v
}

// Diffing makes the phase diff of a function that compares one resource; nil means in sync.
func Diffing(diff func(Input) *Decision) Phase {
	return batch(func(r Value) Value {
		changing := r.Get("changing")
		return diff(Input{
			Declared: r.Get("declared"), Observed: r.Get("observed"), Facts: r.Get("facts"),
			Inputs: changing.Get("inputs").Texts(), Packages: changing.Get("package").Texts(),
		}).value()
	})
}
