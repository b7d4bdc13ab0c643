package read

import (
	"unsafe"

	"gyrum.ai/plugins/guest"
)

// Host reaches the engine through the imports below. The linker keeps the ones that a module uses.
type Host struct{}

//go:wasmimport gyrum:read account
func importAccount(request unsafe.Pointer, length int32) int32

func (Host) account(request []byte) []byte { return guest.Exchange(importAccount, request) }

//go:wasmimport gyrum:read content_matches
func importContentMatches(request unsafe.Pointer, length int32) int32

func (Host) contentMatches(request []byte) []byte {
	return guest.Exchange(importContentMatches, request)
}

//go:wasmimport gyrum:read directory_entries
func importDirectoryEntries(request unsafe.Pointer, length int32) int32

func (Host) directoryEntries(request []byte) []byte {
	return guest.Exchange(importDirectoryEntries, request)
}

//go:wasmimport gyrum:read env_file
func importEnvFile(request unsafe.Pointer, length int32) int32

func (Host) envFile(request []byte) []byte { return guest.Exchange(importEnvFile, request) }

//go:wasmimport gyrum:read file_digest
func importFileDigest(request unsafe.Pointer, length int32) int32

func (Host) fileDigest(request []byte) []byte { return guest.Exchange(importFileDigest, request) }

//go:wasmimport gyrum:read file_stat
func importFileStat(request unsafe.Pointer, length int32) int32

func (Host) fileStat(request []byte) []byte { return guest.Exchange(importFileStat, request) }

//go:wasmimport gyrum:read group_entry
func importGroupEntry(request unsafe.Pointer, length int32) int32

func (Host) groupEntry(request []byte) []byte { return guest.Exchange(importGroupEntry, request) }

//go:wasmimport gyrum:read line_state
func importLineState(request unsafe.Pointer, length int32) int32

func (Host) lineState(request []byte) []byte { return guest.Exchange(importLineState, request) }

//go:wasmimport gyrum:read package
func importPkg(request unsafe.Pointer, length int32) int32

func (Host) pkg(request []byte) []byte { return guest.Exchange(importPkg, request) }

//go:wasmimport gyrum:read package_compare
func importPackageCompare(request unsafe.Pointer, length int32) int32

func (Host) packageCompare(request []byte) []byte {
	return guest.Exchange(importPackageCompare, request)
}

//go:wasmimport gyrum:read package_simulate
func importPackageSimulate(request unsafe.Pointer, length int32) int32

func (Host) packageSimulate(request []byte) []byte {
	return guest.Exchange(importPackageSimulate, request)
}

//go:wasmimport gyrum:read path_exists
func importPathExists(request unsafe.Pointer, length int32) int32

func (Host) pathExists(request []byte) []byte { return guest.Exchange(importPathExists, request) }

//go:wasmimport gyrum:read unit
func importUnit(request unsafe.Pointer, length int32) int32

func (Host) unit(request []byte) []byte { return guest.Exchange(importUnit, request) }

//go:wasmimport gyrum:read user_entry
func importUserEntry(request unsafe.Pointer, length int32) int32

func (Host) userEntry(request []byte) []byte { return guest.Exchange(importUserEntry, request) }
