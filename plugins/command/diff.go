package command

import "gyrum.ai/plugins/guest"

// Diff says whether the command is to be run: always when it is declared idempotent: false, and then as a warning,
// because that is no difference between the host and its declaration.
func Diff(in guest.Input) *guest.Decision {
	d := &guest.Decision{Verb: "run", Params: guest.Object()}
	for _, name := range []string{"run", "creates", "cwd", "env", "timeout"} {
		if v := in.Declared.Get(name); !v.IsNull() {
			d.Params = d.Params.With(name, v)
		}
	}
	switch {
	case in.Declared.Has("idempotent") && !in.Declared.Get("idempotent").True():
		d.Severity, d.Repeats = guest.Warn, true
		d.Reason = guest.Reason{Code: "not-idempotent", Text: "declared idempotent: false, so every apply runs it"}
	case in.Observed.Get("has_run").True():
		return nil
	default:
		d.Reason = guest.Reason{Code: "not-run", Text: in.Declared.GetText("creates") + " does not exist"}
	}
	return d
}
