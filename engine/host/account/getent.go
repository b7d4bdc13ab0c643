package account

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/process"
)

// getentTimeout bounds a lookup: a directory service that does not answer must not hold a check up for ever.
const getentTimeout = 15 * time.Second

// Getent asks getent(1), which goes through every source that nsswitch.conf names.
func Getent(ctx context.Context, database, key string) (string, bool, error) {
	var stdout, stderr bytes.Buffer
	end, err := process.Run(ctx, process.Spec{
		Argv: []string{"getent", database, "--", key}, Env: process.Tool(), Timeout: getentTimeout,
		Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Code == fault.NotAvailable {
			return "", false, fault.New(fault.Unavailable, "getent is not installed, so whether %s has %s cannot be told", database, key)
		}
		return "", false, err
	}
	switch {
	case end.TimedOut:
		return "", false, fault.New(fault.Timeout, "getent %s %s gave no answer within %s", database, key, getentTimeout)
	case end.Exit == 2:
		return "", false, nil // getent(1): one or more keys could not be found
	case end.Exit != 0:
		return "", false, fault.New(fault.Unavailable, "getent %s %s ended with %d: %s", database, key, end.Exit, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(stdout.String(), "\n"), true, nil
}
