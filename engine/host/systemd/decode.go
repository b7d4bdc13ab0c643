package systemd

import (
	"math"
	"time"

	"github.com/godbus/dbus/v5"
)

// decode reads a unit's properties; u are those of every unit, s those of its kind.
func decode(u, s map[string]dbus.Variant) Properties {
	return Properties{
		ID: get[string](u, "Id"), LoadState: get[string](u, "LoadState"), LoadError: loadError(u),
		ActiveState: get[string](u, "ActiveState"), SubState: get[string](u, "SubState"),
		Fragment: get[string](u, "FragmentPath"), Source: get[string](u, "SourcePath"), DropIns: get[[]string](u, "DropInPaths"),
		NeedReload: get[bool](u, "NeedDaemonReload"), CanStart: get[bool](u, "CanStart"),
		TriggeredBy: get[[]string](u, "TriggeredBy"), Invocation: invocation(get[[]byte](u, "InvocationID")),
		InactiveExit: nanoseconds(u["InactiveExitTimestamp"]), InactiveEnter: nanoseconds(u["InactiveEnterTimestamp"]),
		Unmet: append(unmet(u, "Condition"), unmet(u, "Assert")...),

		Type: get[string](s, "Type"), RemainAfterExit: get[bool](s, "RemainAfterExit"), Result: get[string](s, "Result"),
		ExecMainCode: int(get[int32](s, "ExecMainCode")), ExecMainStatus: int(get[int32](s, "ExecMainStatus")),
		Restarts: get[uint32](s, "NRestarts"), MainPID: get[uint32](s, "MainPID"),
		EnvironmentFiles: environmentFiles(s["EnvironmentFiles"]),
		StartTimeout:     timeout(s, "TimeoutStartUSec"), StopTimeout: timeout(s, "TimeoutStopUSec"),
	}
}

// get gives a property, the zero value when it is missing or of another type.
func get[T any](m map[string]dbus.Variant, name string) T {
	v, _ := m[name].Value().(T)
	return v
}

// nanoseconds reads a timestamp, which systemd has in microseconds; zero and infinity both mean never.
func nanoseconds(v dbus.Variant) int64 {
	t, _ := v.Value().(uint64)
	if t > math.MaxInt64/1000 {
		return 0
	}
	return int64(t) * 1000
}

// timeout reads a bound; mounts and sockets have one for both directions.
func timeout(m map[string]dbus.Variant, name string) time.Duration {
	v, ok := m[name]
	if !ok {
		v = m["TimeoutUSec"]
	}
	return time.Duration(nanoseconds(v))
}

// loadError reads the (name, text) pair.
func loadError(m map[string]dbus.Variant) string {
	if pair, ok := m["LoadError"].Value().([]any); ok && len(pair) == 2 {
		text, _ := pair[1].(string)
		return text
	}
	return ""
}

// jobPath is the object of the unit's job, empty when there is none.
func jobPath(m map[string]dbus.Variant) dbus.ObjectPath {
	if pair, ok := m["Job"].Value().([]any); ok && len(pair) == 2 {
		if id, _ := pair[0].(uint32); id != 0 {
			path, _ := pair[1].(dbus.ObjectPath)
			return path
		}
	}
	return ""
}

// unmet lists the conditions, or assertions, that failed when they were last tried, if that was ever. systemd has them as
// (name, trigger, negate, parameter, state), state being below zero for a failure. Of conditions with a | one is enough.
func unmet(u map[string]dbus.Variant, what string) []string {
	if get[bool](u, what+"Result") || nanoseconds(u[what+"Timestamp"]) == 0 {
		return nil
	}
	var texts []string
	rows, _ := u[what+"s"].Value().([][]any)
	for _, r := range rows {
		if len(r) != 5 {
			continue
		}
		name, _ := r[0].(string)
		trigger, _ := r[1].(bool)
		negate, _ := r[2].(bool)
		parameter, _ := r[3].(string)
		if state, _ := r[4].(int32); state >= 0 {
			continue
		}
		if negate {
			parameter = "!" + parameter
		}
		if trigger {
			parameter = "|" + parameter
		}
		texts = append(texts, name+"="+parameter)
	}
	if texts == nil {
		return []string{map[string]string{"Condition": "a condition", "Assert": "an assertion"}[what]}
	}
	return texts
}

// environmentFiles reads the (pattern, may be missing) pairs.
func environmentFiles(v dbus.Variant) []EnvironmentFile {
	var files []EnvironmentFile
	rows, _ := v.Value().([][]any)
	for _, r := range rows {
		if len(r) == 2 {
			pattern, _ := r[0].(string)
			missing, _ := r[1].(bool)
			files = append(files, EnvironmentFile{pattern, missing})
		}
	}
	return files
}
