// Package fault is the one error that the host's sides answer with: a stable code for programs and a text for people.
// It knows nothing of what was asked.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The codes of a fault. Every one means "could not", never "is absent".
const (
	PermissionDenied = "permission-denied"
	Unavailable      = "unavailable" // the service or tool that would know is not there
	UnsafePath       = "unsafe-path" // a parent lets an unprivileged user decide where the path leads
	Invalid          = "invalid"     // the request, or what stands in the place, does not fit
	IO               = "io"
	Busy             = "busy"
	ReadOnly         = "read-only"
	NoSpace          = "no-space"
	Timeout          = "timeout"
	NotAvailable     = "not-available" // no repository offers it
	Held             = "held"
	Virtual          = "virtual"
	WouldRemove      = "would-remove"
	Failed           = "failed"
	Interrupted      = "interrupted"
	SecretUnresolved = "secret-unresolved"
)

// Error is a failed question or effect.
type Error struct {
	Code string `json:"code"`
	Text string `json:"text"`
	// Cause is what the kernel or a tool said, for errors.Is; it enters no reply.
	Cause error `json:"-"`
}

// Error gives the text.
func (e *Error) Error() string { return e.Text }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes a fault. The text is formatted as by fmt.Errorf; an error given to %w becomes the cause.
func New(code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: err.Error(), Cause: errors.Unwrap(err)}
}

// Of gives err as a fault: itself when it is one, otherwise with the code that its errno stands for.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		if f.Text == err.Error() {
			return f
		}
		return &Error{Code: f.Code, Text: err.Error(), Cause: err}
	}
	return &Error{Code: CodeOf(err), Text: err.Error(), Cause: err}
}

// CodeOf classifies an error of the kernel or the context.
func CodeOf(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ETXTBSY), errors.Is(err, syscall.EXDEV):
		return Busy
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return NoSpace
	case errors.Is(err, fs.ErrPermission):
		return PermissionDenied
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return Invalid
	}
	return IO
}
