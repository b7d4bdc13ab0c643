package term

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// patience is how long work may take before a line says what it is.
const patience = 400 * time.Millisecond

// Progress is one line on a terminal that says what is going on and for how long, and is wiped before anything else is
// written. A nil Progress shows nothing.
type Progress struct {
	mu    sync.Mutex
	out   io.Writer
	width func() int
	what  string
	since time.Time
	drawn bool
	stop  chan struct{}
	once  sync.Once
}

// NewProgress draws on out, a terminal of so many columns.
func NewProgress(out io.Writer, width func() int) *Progress {
	p := &Progress{out: out, width: width, stop: make(chan struct{})}
	go p.tick()
	return p
}

func (p *Progress) tick() {
	t := time.NewTicker(patience)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.draw()
		}
	}
}

// Say begins a new piece of work.
func (p *Progress) Say(what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.what, p.since = what, time.Now()
}

// Pause wipes the line until something new is said.
func (p *Progress) Pause() { p.Say("") }

// Close wipes the line for good.
func (p *Progress) Close() {
	if p == nil {
		return
	}
	p.Pause()
	p.once.Do(func() { close(p.stop) })
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.since)
	if p.what == "" || took < patience {
		return
	}
	line := fmt.Sprintf("%s … %d s", p.what, int(took.Seconds()))
	if w := p.width(); w > 1 && utf8.RuneCountInString(line) >= w {
		line = string([]rune(line)[:w-1])
	}
	fmt.Fprintf(p.out, "\r\x1b[K\x1b[2m%s\x1b[0m", line)
	p.drawn = true
}

func (p *Progress) wipe() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
