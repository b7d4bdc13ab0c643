//go:build !wasip1

package read

// Host answers in place of the engine, so that a plugin's logic runs natively in tests.
type Host struct {
	// Ask performs one capability.
	Ask func(capability string, request []byte) (reply []byte)
}

func (h Host) account(request []byte) []byte          { return h.Ask("account", request) }
func (h Host) contentMatches(request []byte) []byte   { return h.Ask("content_matches", request) }
func (h Host) directoryEntries(request []byte) []byte { return h.Ask("directory_entries", request) }
func (h Host) envFile(request []byte) []byte          { return h.Ask("env_file", request) }
func (h Host) fileDigest(request []byte) []byte       { return h.Ask("file_digest", request) }
func (h Host) fileStat(request []byte) []byte         { return h.Ask("file_stat", request) }
func (h Host) groupEntry(request []byte) []byte       { return h.Ask("group_entry", request) }
func (h Host) lineState(request []byte) []byte        { return h.Ask("line_state", request) }
func (h Host) pkg(request []byte) []byte              { return h.Ask("package", request) }
func (h Host) packageCompare(request []byte) []byte   { return h.Ask("package_compare", request) }
func (h Host) packageSimulate(request []byte) []byte  { return h.Ask("package_simulate", request) }
func (h Host) pathExists(request []byte) []byte       { return h.Ask("path_exists", request) }
func (h Host) unit(request []byte) []byte             { return h.Ask("unit", request) }
func (h Host) userEntry(request []byte) []byte        { return h.Ask("user_entry", request) }
