package engine

import (
	"errors"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

// The exit codes of check and apply.
const (
	ExitOK      = 0
	ExitError   = 1
	ExitDrift   = 2
	ExitRefused = 3
	ExitLocked  = 4
	ExitUsage   = 64
)

// ExitCode is the exit code of a check that gave this report.
func ExitCode(r *drift.Report) int {
	code := ExitOK
	for _, it := range r.Items {
		switch {
		case it.Severity == drift.SeverityError || it.Blocked != "":
			return ExitError
		case it.Severity == drift.SeverityDrift:
			code = ExitDrift
		}
	}
	return code
}

// ExitCode is the exit code of an apply that ended with this result and no error.
func (r *ApplyResult) ExitCode() int {
	if r.Refused {
		return ExitRefused
	}
	if r.Err != nil || r.Interrupted {
		return ExitError
	}
	for _, it := range r.Executed.Items {
		if it.Result != nil && (it.Result.Status == drift.Failed || it.Result.Status == drift.Blocked) {
			return ExitError
		}
	}
	return ExitCode(r.After)
}

// ErrorCode is the exit code of a check or an apply that ended with an error.
func ErrorCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, journal.ErrLocked):
		return ExitLocked
	case errors.Is(err, ErrSelection):
		return ExitUsage
	}
	return ExitError
}
