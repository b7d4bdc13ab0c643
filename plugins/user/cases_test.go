package user

import (
	"testing"

	"gyrum.ai/plugins/corpus"
)

func TestCases(t *testing.T) {
	corpus.Test(t, corpus.Logic{Observe: Observe, Diff: Diff, Apply: corpus.Writes(Apply)})
}
