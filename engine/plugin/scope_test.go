package plugin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/host"
)

// grantAll grants every capability of a side with the scope that the types of the program have.
func grantAll(fields ...string) map[string]Grant {
	g := map[string]Grant{}
	for _, c := range host.Capabilities() {
		g[c.Name] = Grant{Scope: fields}
	}
	return g
}

const (
	fileRecord    = `{"group":"root","id":"file:/etc/a","mode":"0640","owner":"root","path":"/etc/a","state":"present","type":"file"}`
	absentRecord  = `{"group":"root","id":"file:/etc/gone","mode":"0644","owner":"root","path":"/etc/gone","state":"absent","type":"file"}`
	packageRecord = `{"id":"package:nginx","name":"nginx","state":"present","type":"package","version":"1.2"}`
	anyRecord     = `{"id":"package:curl","name":"curl","state":"present","type":"package","version":"present"}`
	unitRecord    = `{"enabled":true,"id":"systemd_unit:a.service","name":"a.service","restart_on":["file:/etc/a"],"state":"started","type":"systemd_unit"}`
	onlyEnabled   = `{"enabled":true,"id":"systemd_unit:b.service","name":"b.service","type":"systemd_unit"}`
	commandRecord = `{"creates":"/x","id":"command:c","run":"true","type":"command"}`
)

// While a resource is applied, an effect reaches that resource and brings about what it declares, nothing else.
func TestEffectsReachWhatTheResourceDeclares(t *testing.T) {
	for _, c := range []struct{ record, capability, request string }{
		{fileRecord, "file_replace", `{"group":"root","id":"file:/etc/a","mode":"0640","owner":"root","path":"/etc/a"}`},
		{fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/a"}`},
		{fileRecord, "file_owner", `{"group":"root","kind":"file","mode":"0640","owner":"root","path":"/etc/a"}`},
		{absentRecord, "file_remove", `{"path":"/etc/gone"}`},
		{packageRecord, "package_install", `{"downgrade":true,"name":"nginx","version":"1.2"}`},
		{anyRecord, "package_install", `{"downgrade":false,"name":"curl"}`},
		{unitRecord, "unit_start", `{"name":"a.service"}`},
		{unitRecord, "unit_restart", `{"name":"a.service"}`},
		{unitRecord, "unit_enable", `{"name":"a.service"}`},
		{unitRecord, "unit_reload", `{"name":"a.service"}`},
		{commandRecord, "command_run", `{"id":"command:c"}`},
	} {
		s := newScope(grantAll("id", "path", "name"), []json.RawMessage{json.RawMessage(c.record)})
		if err := s.check(c.capability, []byte(c.request)); err != nil {
			t.Errorf("%s %s: %v", c.capability, c.request, err)
		}
	}
	for name, c := range map[string]struct{ record, capability, request string }{
		"another path":                {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/shadow"}`},
		"another path under the id":   {fileRecord, "file_replace", `{"group":"root","id":"file:/etc/a","mode":"0640","owner":"root","path":"/etc/b"}`},
		"another id with the path":    {fileRecord, "file_replace", `{"group":"root","id":"file:/etc/b","mode":"0640","owner":"root","path":"/etc/a"}`},
		"an id that is no string":     {fileRecord, "file_replace", `{"group":"root","id":["file:/etc/a"],"mode":"0640","owner":"root","path":"/etc/a"}`},
		"two slashes":                 {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"//etc/a"}`},
		"up and down":                 {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/../etc/a"}`},
		"a dot":                       {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/./a"}`},
		"a slash at the end":          {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/a/"}`},
		"below the path":              {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/a/b"}`},
		"a path that begins like it":  {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/ab"}`},
		"a NUL behind it":             {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/a\u0000b"}`},
		"another spelling of letters": {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/\u0061"}`},
		"the key twice":               {fileRecord, "file_mode", `{"kind":"file","mode":"0640","path":"/etc/a","path":"/etc/b"}`},
		"the key in other letters":    {fileRecord, "file_mode", `{"Path":"/etc/shadow","kind":"file","mode":"0640","path":"/etc/a"}`},
		"no key":                      {fileRecord, "file_mode", `{"kind":"file","mode":"0640"}`},
		"a set-id mode":               {fileRecord, "file_mode", `{"kind":"file","mode":"4755","path":"/etc/a"}`},
		"another mode with content":   {fileRecord, "file_replace", `{"group":"root","id":"file:/etc/a","mode":"0666","owner":"root","path":"/etc/a"}`},
		"another owner":               {fileRecord, "file_owner", `{"group":"root","kind":"file","mode":"0640","owner":"mallory","path":"/etc/a"}`},
		"a group":                     {fileRecord, "file_owner", `{"group":"mallory","kind":"file","mode":"0640","owner":"root","path":"/etc/a"}`},
		"a file that is to be":        {fileRecord, "file_remove", `{"path":"/etc/a"}`},
		"a file that is to go":        {absentRecord, "file_mode", `{"kind":"file","mode":"0644","path":"/etc/gone"}`},
		"another package":             {packageRecord, "package_install", `{"downgrade":false,"name":"netcat","version":"1.2"}`},
		"another architecture":        {packageRecord, "package_install", `{"downgrade":false,"name":"nginx:i386","version":"1.2"}`},
		"a version in the name":       {packageRecord, "package_install", `{"downgrade":false,"name":"nginx=1.1"}`},
		"a release in the name":       {packageRecord, "package_install", `{"downgrade":false,"name":"nginx/sid"}`},
		"a minus behind the name":     {packageRecord, "package_install", `{"downgrade":false,"name":"nginx-"}`},
		"a plus behind the name":      {packageRecord, "package_install", `{"downgrade":false,"name":"nginx+"}`},
		"an option for a name":        {packageRecord, "package_install", `{"downgrade":false,"name":"-oDPkg::Pre-Invoke=sh"}`},
		"another version":             {packageRecord, "package_install", `{"downgrade":true,"name":"nginx","version":"1.1"}`},
		"a version where any will do": {anyRecord, "package_install", `{"downgrade":false,"name":"curl","version":"1"}`},
		"removing what is to be":      {packageRecord, "package_remove", `{"name":"nginx"}`},
		"another unit":                {unitRecord, "unit_start", `{"name":"ssh.service"}`},
		"the template of a unit":      {unitRecord, "unit_start", `{"name":"a@.service"}`},
		"an instance":                 {unitRecord, "unit_start", `{"name":"a@x.service"}`},
		"a unit without its suffix":   {unitRecord, "unit_start", `{"name":"a"}`},
		"what restart_on names":       {unitRecord, "unit_start", `{"name":"file:/etc/a"}`},
		"stopping what is to run":     {unitRecord, "unit_stop", `{"name":"a.service"}`},
		"disabling what is enabled":   {unitRecord, "unit_disable", `{"name":"a.service"}`},
		"stopping what is left alone": {onlyEnabled, "unit_stop", `{"name":"b.service"}`},
		"starting it":                 {onlyEnabled, "unit_start", `{"name":"b.service"}`},
		"another command":             {commandRecord, "command_run", `{"id":"command:d"}`},
		"a command of its own":        {commandRecord, "command_run", `{"id":"command:c","run":"false"}`},
	} {
		s := newScope(grantAll("id", "path", "name"), []json.RawMessage{json.RawMessage(c.record)})
		if err := s.check(c.capability, []byte(c.request)); err == nil {
			t.Errorf("%s: %s %s was let through", name, c.capability, c.request)
		}
	}
}

// A list in a scope, such as restart_on, reaches each of its elements and nothing that they are not.
func TestAListInAScope(t *testing.T) {
	s := newScope(map[string]Grant{"path_exists": {Scope: []string{"inputs"}}}, []json.RawMessage{json.RawMessage(`{"id":"t:a","inputs":["/a","/b",{"path":"/c"}]}`)})
	for path, want := range map[string]bool{"/a": true, "/b": true, "/c": false, `["/a","/b"]`: false, "": false} {
		request, _ := json.Marshal(map[string]string{"path": path})
		if err := s.check("path_exists", request); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What is observed of a batch is what its resources declare: a path of another type's resource is none of its business,
// and one resource's simulation is not made with another's version.
func TestReadsReachTheBatchOnly(t *testing.T) {
	batch := []json.RawMessage{json.RawMessage(packageRecord), json.RawMessage(anyRecord)}
	s := newScope(grantAll("name"), batch)
	for request, want := range map[string]bool{
		`{"name":"nginx","state":"present","version":"1.2"}`: true,
		`{"name":"curl","state":"present"}`:                  true,
		`{"name":"curl","state":"present","version":"1.2"}`:  false,
		`{"name":"nginx","state":"absent"}`:                  false,
		`{"name":"openssl","state":"present"}`:               false,
	} {
		if err := s.check("package_simulate", []byte(request)); (err == nil) != want {
			t.Errorf("%s: %v", request, err)
		}
	}
}

// The six types of the program are granted what their questions and effects need, and each grant names as its scope the
// field that is the resource's own key; only what cannot be reached by a key has another.
func TestEveryCapabilityTakesAScope(t *testing.T) {
	for name, g := range grantAll() {
		keys := capabilities[name].Keys
		m := &Manifest{Type: "t", Version: 1, ABI: ABI, Decision: "0001-t", Apply: map[string]Grant{name: g}}
		err := m.check()
		if wrong := err == nil; wrong != (len(keys) == 0) {
			t.Errorf("%s without a scope: %v", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		if c := capabilities[name]; c.Side == host.Write && len(c.Keys) != 1 {
			t.Errorf("%s writes and has the keys %v; an effect has one", name, c.Keys)
		}
	}
	if err := (&Manifest{Type: "t", Version: 1, ABI: ABI, Decision: "d", Observe: map[string]Grant{"file_mode": {Scope: []string{"path"}}}}).check(); err == nil || !strings.Contains(err.Error(), "writes") {
		t.Errorf("observe may write: %v", err)
	}
}
