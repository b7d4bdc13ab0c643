package journal

// Ways in which a plan can be confirmed.
const (
	// ByHash is a plan hash given on the command line.
	ByHash = "plan-hash"
	// ByYes is a yes typed at a terminal.
	ByYes = "interactive"
	// ByFlag is a standing yes, as timers and bootstrap give it.
	ByFlag = "auto-confirm"
	// ByNothing is an apply that had nothing to execute and so needed no yes.
	ByNothing = "nothing-to-confirm"
)

// Confirmer says who confirmed a plan.
type Confirmer struct {
	// How is one of the ways above; the engine fills it.
	How string `json:"how"`
	// User is the account that runs the apply.
	User string `json:"user,omitempty"`
	// SudoUser is the account behind sudo(8).
	SudoUser string `json:"sudo_user,omitempty"`
	// Via is terminal, timer, unit or script.
	Via string `json:"via,omitempty"`
}
