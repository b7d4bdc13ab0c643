package plugin

import (
	"context"
	"fmt"

	"gyrum.ai/engine/host"
)

// exchange is one capability call.
type exchange struct {
	capability     string
	request, reply []byte
}

// recorder is told every exchange, in order.
type recorder interface {
	record(exchange)
}

// dialogue is the one way from a guest to the host: every capability call of a batch goes through ask, whoever makes
// it, and can be recorded there.
type dialogue struct {
	asker host.Asker
	// doer is nil where nothing may be written.
	doer  host.Doer
	scope *scope
	// heard is told what the guest asked and was told, nil without.
	heard recorder
	// ahead holds exchanges that this run has made already, in the order in which the guest will make them. They were
	// asked of the host for this very batch, a moment ago.
	ahead []exchange
}

// ask answers one capability call. An error is the guest's fault, unless the context is done.
func (d *dialogue) ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	if err := d.scope.check(capability, request); err != nil {
		return nil, err
	}
	reply, err := d.reply(ctx, capability, request)
	if err != nil {
		return nil, err
	}
	if d.heard != nil {
		d.heard.record(exchange{capability, request, reply})
	}
	return reply, nil
}

func (d *dialogue) reply(ctx context.Context, capability string, request []byte) ([]byte, error) {
	if len(d.ahead) > 0 {
		if e := d.ahead[0]; e.capability == capability && string(e.request) == string(request) {
			d.ahead = d.ahead[1:]
			return e.reply, nil
		}
		d.ahead = nil
	}
	return d.put(ctx, capability, request)
}

// put asks the host.
func (d *dialogue) put(ctx context.Context, capability string, request []byte) ([]byte, error) {
	var reply []byte
	var err error
	switch c := capabilities[capability]; {
	case c.Side == host.Read:
		reply, err = d.asker.Ask(ctx, capability, request)
	case c.Side == host.Write && d.doer != nil:
		reply, err = d.doer.Do(ctx, capability, request)
	default:
		return nil, fmt.Errorf("it called %s, which is not there", capability)
	}
	if err != nil {
		return nil, fmt.Errorf("%s refused its request %.200q: %w", capability, request, err)
	}
	return reply, nil
}
