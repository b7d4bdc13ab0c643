package write

import (
	"unsafe"

	"gyrum.ai/plugins/guest"
)

// Host reaches the engine through the imports below. The linker keeps the ones that a module uses.
type Host struct{}

//go:wasmimport gyrum:write command_run
func importCommandRun(request unsafe.Pointer, length int32) int32

func (Host) commandRun(request []byte) []byte { return guest.Exchange(importCommandRun, request) }

//go:wasmimport gyrum:write directory_make
func importDirectoryMake(request unsafe.Pointer, length int32) int32

func (Host) directoryMake(request []byte) []byte { return guest.Exchange(importDirectoryMake, request) }

//go:wasmimport gyrum:write directory_remove
func importDirectoryRemove(request unsafe.Pointer, length int32) int32

func (Host) directoryRemove(request []byte) []byte {
	return guest.Exchange(importDirectoryRemove, request)
}

//go:wasmimport gyrum:write env_replace
func importEnvReplace(request unsafe.Pointer, length int32) int32

func (Host) envReplace(request []byte) []byte { return guest.Exchange(importEnvReplace, request) }

//go:wasmimport gyrum:write file_mode
func importFileMode(request unsafe.Pointer, length int32) int32

func (Host) fileMode(request []byte) []byte { return guest.Exchange(importFileMode, request) }

//go:wasmimport gyrum:write file_owner
func importFileOwner(request unsafe.Pointer, length int32) int32

func (Host) fileOwner(request []byte) []byte { return guest.Exchange(importFileOwner, request) }

//go:wasmimport gyrum:write file_remove
func importFileRemove(request unsafe.Pointer, length int32) int32

func (Host) fileRemove(request []byte) []byte { return guest.Exchange(importFileRemove, request) }

//go:wasmimport gyrum:write file_replace
func importFileReplace(request unsafe.Pointer, length int32) int32

func (Host) fileReplace(request []byte) []byte { return guest.Exchange(importFileReplace, request) }

//go:wasmimport gyrum:write group_add
func importGroupAdd(request unsafe.Pointer, length int32) int32

func (Host) groupAdd(request []byte) []byte { return guest.Exchange(importGroupAdd, request) }

//go:wasmimport gyrum:write group_change
func importGroupChange(request unsafe.Pointer, length int32) int32

func (Host) groupChange(request []byte) []byte { return guest.Exchange(importGroupChange, request) }

//go:wasmimport gyrum:write group_remove
func importGroupRemove(request unsafe.Pointer, length int32) int32

func (Host) groupRemove(request []byte) []byte { return guest.Exchange(importGroupRemove, request) }

//go:wasmimport gyrum:write line_remove
func importLineRemove(request unsafe.Pointer, length int32) int32

func (Host) lineRemove(request []byte) []byte { return guest.Exchange(importLineRemove, request) }

//go:wasmimport gyrum:write line_write
func importLineWrite(request unsafe.Pointer, length int32) int32

func (Host) lineWrite(request []byte) []byte { return guest.Exchange(importLineWrite, request) }

//go:wasmimport gyrum:write package_install
func importPackageInstall(request unsafe.Pointer, length int32) int32

func (Host) packageInstall(request []byte) []byte {
	return guest.Exchange(importPackageInstall, request)
}

//go:wasmimport gyrum:write package_remove
func importPackageRemove(request unsafe.Pointer, length int32) int32

func (Host) packageRemove(request []byte) []byte { return guest.Exchange(importPackageRemove, request) }

//go:wasmimport gyrum:write symlink_make
func importSymlinkMake(request unsafe.Pointer, length int32) int32

func (Host) symlinkMake(request []byte) []byte { return guest.Exchange(importSymlinkMake, request) }

//go:wasmimport gyrum:write symlink_owner
func importSymlinkOwner(request unsafe.Pointer, length int32) int32

func (Host) symlinkOwner(request []byte) []byte { return guest.Exchange(importSymlinkOwner, request) }

//go:wasmimport gyrum:write symlink_remove
func importSymlinkRemove(request unsafe.Pointer, length int32) int32

func (Host) symlinkRemove(request []byte) []byte { return guest.Exchange(importSymlinkRemove, request) }

//go:wasmimport gyrum:write unit_disable
func importUnitDisable(request unsafe.Pointer, length int32) int32

func (Host) unitDisable(request []byte) []byte { return guest.Exchange(importUnitDisable, request) }

//go:wasmimport gyrum:write unit_enable
func importUnitEnable(request unsafe.Pointer, length int32) int32

func (Host) unitEnable(request []byte) []byte { return guest.Exchange(importUnitEnable, request) }

//go:wasmimport gyrum:write unit_reload
func importUnitReload(request unsafe.Pointer, length int32) int32

func (Host) unitReload(request []byte) []byte { return guest.Exchange(importUnitReload, request) }

//go:wasmimport gyrum:write unit_restart
func importUnitRestart(request unsafe.Pointer, length int32) int32

func (Host) unitRestart(request []byte) []byte { return guest.Exchange(importUnitRestart, request) }

//go:wasmimport gyrum:write unit_start
func importUnitStart(request unsafe.Pointer, length int32) int32

func (Host) unitStart(request []byte) []byte { return guest.Exchange(importUnitStart, request) }

//go:wasmimport gyrum:write unit_stop
func importUnitStop(request unsafe.Pointer, length int32) int32

func (Host) unitStop(request []byte) []byte { return guest.Exchange(importUnitStop, request) }

//go:wasmimport gyrum:write user_add
func importUserAdd(request unsafe.Pointer, length int32) int32

func (Host) userAdd(request []byte) []byte { return guest.Exchange(importUserAdd, request) }

//go:wasmimport gyrum:write user_change
func importUserChange(request unsafe.Pointer, length int32) int32

func (Host) userChange(request []byte) []byte { return guest.Exchange(importUserChange, request) }

//go:wasmimport gyrum:write user_remove
func importUserRemove(request unsafe.Pointer, length int32) int32

func (Host) userRemove(request []byte) []byte { return guest.Exchange(importUserRemove, request) }
