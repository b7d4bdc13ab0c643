//go:build !wasip1

package write

// Host answers in place of the engine, so that a plugin's logic runs natively in tests.
type Host struct {
	// Do performs one capability.
	Do func(capability string, request []byte) (reply []byte)
}

func (h Host) commandRun(request []byte) []byte      { return h.Do("command_run", request) }
func (h Host) directoryMake(request []byte) []byte   { return h.Do("directory_make", request) }
func (h Host) directoryRemove(request []byte) []byte { return h.Do("directory_remove", request) }
func (h Host) envReplace(request []byte) []byte      { return h.Do("env_replace", request) }
func (h Host) fileMode(request []byte) []byte        { return h.Do("file_mode", request) }
func (h Host) fileOwner(request []byte) []byte       { return h.Do("file_owner", request) }
func (h Host) fileRemove(request []byte) []byte      { return h.Do("file_remove", request) }
func (h Host) fileReplace(request []byte) []byte     { return h.Do("file_replace", request) }
func (h Host) groupAdd(request []byte) []byte        { return h.Do("group_add", request) }
func (h Host) groupChange(request []byte) []byte     { return h.Do("group_change", request) }
func (h Host) groupRemove(request []byte) []byte     { return h.Do("group_remove", request) }
func (h Host) lineRemove(request []byte) []byte      { return h.Do("line_remove", request) }
func (h Host) lineWrite(request []byte) []byte       { return h.Do("line_write", request) }
func (h Host) packageInstall(request []byte) []byte  { return h.Do("package_install", request) }
func (h Host) packageRemove(request []byte) []byte   { return h.Do("package_remove", request) }
func (h Host) symlinkMake(request []byte) []byte     { return h.Do("symlink_make", request) }
func (h Host) symlinkOwner(request []byte) []byte    { return h.Do("symlink_owner", request) }
func (h Host) symlinkRemove(request []byte) []byte   { return h.Do("symlink_remove", request) }
func (h Host) unitDisable(request []byte) []byte     { return h.Do("unit_disable", request) }
func (h Host) unitEnable(request []byte) []byte      { return h.Do("unit_enable", request) }
func (h Host) unitReload(request []byte) []byte      { return h.Do("unit_reload", request) }
func (h Host) unitRestart(request []byte) []byte     { return h.Do("unit_restart", request) }
func (h Host) unitStart(request []byte) []byte       { return h.Do("unit_start", request) }
func (h Host) unitStop(request []byte) []byte        { return h.Do("unit_stop", request) }
func (h Host) userAdd(request []byte) []byte         { return h.Do("user_add", request) }
func (h Host) userChange(request []byte) []byte      { return h.Do("user_change", request) }
func (h Host) userRemove(request []byte) []byte      { return h.Do("user_remove", request) }
