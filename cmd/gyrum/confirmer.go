package main

import (
	"os"
	"os/user"
	"strconv"
	"strings"

	"gyrum.ai/cmd/gyrum/internal/term"
	"gyrum.ai/engine/journal"
)

// confirmer says for the journal who runs this apply. What systemd sets for a service is in systemd.exec(5).
func confirmer(p *program) journal.Confirmer {
	c := journal.Confirmer{User: strconv.Itoa(os.Getuid()), SudoUser: p.getenv("SUDO_USER"), Via: "script"}
	if u, err := user.LookupId(c.User); err == nil {
		c.User = u.Username
	}
	switch {
	case strings.HasSuffix(p.getenv("TRIGGER_UNIT"), ".timer"):
		c.Via = "timer"
	case p.getenv("INVOCATION_ID") != "" && !term.IsTerminal(p.in):
		c.Via = "unit"
	case term.IsTerminal(p.in):
		c.Via = "terminal"
	}
	return c
}
