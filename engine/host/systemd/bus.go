package systemd

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sysd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"gyrum.ai/engine/host/fault"
)

// Names of systemd's D-Bus interface, org.freedesktop.systemd1(5).
const (
	busName          = "org.freedesktop.systemd1"
	managerPath      = dbus.ObjectPath("/org/freedesktop/systemd1")
	managerInterface = busName + ".Manager"
	unitInterface    = busName + ".Unit"
	getAll           = "org.freedesktop.DBus.Properties.GetAll"
	getOne           = "org.freedesktop.DBus.Properties.Get"
)

// privateSocket is systemd's own; root alone may use it, and it is there also where no bus runs.
const privateSocket = "/run/systemd/private"

// asking bounds one question; systemd answers in a millisecond unless it hangs.
const asking = 25 * time.Second

// dialing bounds the making of a connection.
const dialing = 10 * time.Second

// Bus is the manager of this machine. It connects when it is first asked, once; changes take a second connection. It
// implements Manager and Control. The zero value is ready.
type Bus struct {
	mu      sync.Mutex
	conn    *dbus.Conn
	dialErr error
	control *sysd.Conn
}

// Close ends the connections.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		b.conn.Close()
	}
	if b.control != nil {
		b.control.Close()
	}
	b.conn, b.control, b.dialErr = nil, nil, nil
}

// dialer makes one connection.
type dialer func() (*dbus.Conn, error)

// For questions the system bus comes first: a unit can be held there, and systemd does not tell a connection on it of
// everything that happens. Where no bus runs, root has systemd's private socket.
func dialToAsk() (*dbus.Conn, error) { return dialFirst(dialSystem, dialPrivate) }

// For changes the private socket comes first: it survives a restart of the bus.
func dialToChange() (*dbus.Conn, error) { return dialFirst(dialPrivate, dialSystem) }

func dialFirst(dialers ...dialer) (*dbus.Conn, error) {
	var failed []error
	for _, d := range dialers {
		conn, err := bounded(d)
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// bounded gives up on a bus that accepts and then says nothing.
func bounded(d dialer) (*dbus.Conn, error) {
	type result struct {
		conn *dbus.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := d()
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-time.After(dialing):
		return nil, fmt.Errorf("no answer within %v", dialing)
	}
}

func dialSystem() (*dbus.Conn, error) {
	conn, err := dbus.SystemBusPrivate()
	if err != nil {
		return nil, fmt.Errorf("the system bus: %w", err)
	}
	if err = authenticate(conn); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the system bus: %w", err)
	}
	return conn, nil
}

func dialPrivate() (*dbus.Conn, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New(privateSocket + ": for root alone")
	}
	conn, err := dbus.Dial("unix:path=" + privateSocket)
	if err != nil {
		return nil, err
	}
	if err = authenticate(conn); err == nil {
		err = awaken(conn)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", privateSocket, err)
	}
	return conn, nil
}

// awaken sees that systemd listens. What arrives in one piece with the end of the authentication stays in its buffer
// until more arrives (seen with systemd 252), so a ping is repeated until one is answered.
func awaken(conn *dbus.Conn) error {
	answered := make(chan *dbus.Call, 1000)
	for wait, spent := time.Millisecond, time.Duration(0); spent < dialing; spent += wait {
		conn.Object(busName, managerPath).Go("org.freedesktop.DBus.Peer.Ping", 0, answered)
		select {
		case c := <-answered:
			return c.Err
		case <-time.After(wait):
		}
		wait = min(2*wait, 100*time.Millisecond)
	}
	return errors.New("no answer")
}

// authenticate shows our uid; by number, since a static binary cannot look up its name.
func authenticate(conn *dbus.Conn) error {
	return conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
}

// connection gives the connection for questions. A failure is remembered: no systemd now is no systemd for this run.
func (b *Bus) connection() (*dbus.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil && b.conn.Connected() {
		return b.conn, nil
	}
	if b.dialErr != nil {
		return nil, b.dialErr
	}
	conn, err := dialToAsk()
	if err != nil {
		b.dialErr = fault.New(fault.Unavailable, "systemd cannot be reached: %w", err)
		return nil, b.dialErr
	}
	b.conn = conn
	return conn, nil
}

// controlling gives the connection for changes, which hears of the end of jobs.
func (b *Bus) controlling() (*sysd.Conn, error) {
	if _, err := b.connection(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.control != nil && b.control.Connected() {
		return b.control, nil
	}
	conn, err := sysd.NewConnection(dialToChange)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "systemd cannot be reached: %w", err)
	}
	b.control = conn
	return conn, nil
}

// call is one method call that is under way.
type call struct {
	*dbus.Call
	ctx context.Context
}

// begin sends a call without waiting, so that several are answered in one round trip.
func begin(ctx context.Context, conn *dbus.Conn, path dbus.ObjectPath, method string, args ...any) call {
	return call{conn.Object(busName, path).GoWithContext(ctx, method, 0, make(chan *dbus.Call, 1), args...), ctx}
}

// end waits for the answer.
func (c call) end(into ...any) error {
	select {
	case <-c.Done:
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
	if c.Err != nil {
		return c.Err
	}
	return c.Store(into...)
}

// Properties tells of one unit in one round trip.
func (b *Bus) Properties(ctx context.Context, name string) (Properties, error) {
	if err := check(name); err != nil {
		return Properties{}, err
	}
	if isTemplate(name) {
		return template(name), nil
	}
	conn, err := b.connection()
	if err != nil {
		return Properties{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	path := unitPath(name)
	unit := begin(ctx, conn, path, getAll, unitInterface)
	special := begin(ctx, conn, path, getAll, dotted(name))
	var u, s map[string]dbus.Variant
	if err := unit.end(&u); err != nil {
		return Properties{}, explain(name, err)
	}
	if err := special.end(&s); err != nil {
		return Properties{}, explain(name, err)
	}
	p := decode(u, s)
	if job := jobPath(u); job != "" {
		var v dbus.Variant
		// The job may be done by now, and then there is none.
		if begin(ctx, conn, job, getOne, busName+".Job", "JobType").end(&v) == nil {
			p.Job, _ = v.Value().(string)
		}
	}
	return p, nil
}

// template describes a template, of which the manager has no unit.
func template(name string) Properties {
	return Properties{ID: name, LoadState: "template", ActiveState: "inactive", SubState: "dead"}
}

// FileState asks for the enable word of a unit file.
func (b *Bus) FileState(ctx context.Context, name string) (string, error) {
	if err := check(name); err != nil {
		return "", err
	}
	conn, err := b.connection()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	var state string
	err = begin(ctx, conn, managerPath, managerInterface+".GetUnitFileState", name).end(&state)
	var e dbus.Error
	switch {
	case err == nil:
		return state, nil
	case !errors.As(err, &e) || lost(e.Name):
		return "", explain(name, err)
	case e.Name == "org.freedesktop.DBus.Error.FileNotFound", e.Name == busName+".NoSuchUnit":
		return "", nil
	case e.Name == "org.freedesktop.DBus.Error.AccessDenied":
		return "", explain(name, err)
	}
	return "bad", nil // the file is there, and systemd cannot make sense of it
}

// Loads asks when unit files were read.
func (b *Bus) Loads(ctx context.Context) (Loads, error) {
	conn, err := b.connection()
	if err != nil {
		return Loads{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	first := begin(ctx, conn, managerPath, getOne, managerInterface, "UnitsLoadStartTimestamp")
	last := begin(ctx, conn, managerPath, getOne, managerInterface, "UnitsLoadTimestamp")
	var f, l dbus.Variant
	if err := errors.Join(first.end(&f), last.end(&l)); err != nil {
		return Loads{}, explain("the manager", err)
	}
	return Loads{Boot: nanoseconds(f), Last: nanoseconds(l)}, nil
}

// Failed asks for the failed units that match a pattern, in the manner of a shell.
func (b *Bus) Failed(ctx context.Context, pattern string) ([]string, error) {
	conn, err := b.connection()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	var units [][]any
	err = begin(ctx, conn, managerPath, managerInterface+".ListUnitsByPatterns", []string{"failed"}, []string{pattern}).end(&units)
	if err != nil {
		return nil, explain(pattern, err)
	}
	var names []string
	for _, u := range units {
		if name, ok := u[0].(string); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// unitPath is the object path of a unit; every byte that is no letter or digit is escaped.
func unitPath(name string) dbus.ObjectPath {
	return dbus.ObjectPath(string(managerPath) + "/unit/" + sysd.PathBusEscape(name))
}

// lost says of a D-Bus error that systemd could not be asked.
func lost(name string) bool {
	switch strings.TrimPrefix(name, "org.freedesktop.DBus.Error.") {
	case "NoReply", "Disconnected", "ServiceUnknown", "NameHasNoOwner", "Timeout", "TimedOut", "NoServer", "LimitsExceeded":
		return true
	}
	return false
}

// explain makes a fault of what a call ended with.
func explain(what string, err error) error {
	var e dbus.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fault.New(fault.CodeOf(err), "%s: systemd did not answer: %w", what, err)
	case !errors.As(err, &e), lost(e.Name):
		return fault.New(fault.Unavailable, "%s: systemd cannot be asked: %w", what, err)
	}
	code := fault.Failed
	switch e.Name {
	case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired":
		code = fault.PermissionDenied
	case "org.freedesktop.DBus.Error.InvalidArgs", busName + ".UnitMasked", busName + ".NoSuchUnit", busName + ".LoadFailed", busName + ".BadUnitSetting":
		code = fault.Invalid
	}
	return &fault.Error{Code: code, Text: fmt.Sprintf("%s: systemd says: %s", what, e.Error()), Cause: err}
}

// invocation makes the text of an InvocationID, empty for none.
func invocation(raw []byte) string {
	if strings.Trim(string(raw), "\x00") == "" {
		return ""
	}
	return hex.EncodeToString(raw)
}
