package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"gyrum.ai/cmd/gyrum/internal/textdiff"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/resource"
)

// longest is how many lines of one difference are shown.
const longest = 400

// contentDiff compares what a file has on the host with what is declared, for an item that will write it. Where no
// lines can be shown, the remark says why. A content that is a secret is never read here.
func (s *session) contentDiff(it drift.Item) (lines []textdiff.Line, remark string) {
	if it.Resource.Type != "file" || it.Action.Verb != drift.Write {
		return nil, ""
	}
	r, ok := s.resource(it.Resource.ID)
	switch {
	case !ok:
		return nil, ""
	case len(r.Secrets) > 0:
		return nil, "the content is a secret and is not shown"
	case r.Content == nil:
		return nil, ""
	}
	want, err := r.Content.Open()
	if err != nil {
		return nil, fmt.Sprintf("the declared content could not be read: %v", err)
	}
	have, size, err := hostContent(r)
	if err != nil {
		return nil, fmt.Sprintf("the content on the host could not be read: %v", err)
	}
	switch {
	case size > textdiff.MaxBytes || len(want) > textdiff.MaxBytes:
		return nil, fmt.Sprintf("too large to compare by lines: %d bytes on the host, %d declared", size, len(want))
	case !textdiff.IsText(have) || !textdiff.IsText(want):
		return nil, fmt.Sprintf("not text: %s on the host, %d declared", plural(int(size), "byte"), len(want))
	}
	lines = textdiff.Unified(have, want)
	hideSecrets(lines)
	if len(lines) > longest {
		remark = fmt.Sprintf("the first %d of %d lines:", longest, len(lines))
		lines = lines[:longest]
	}
	return lines, remark
}

// hostContent reads a declared file from the host, by the same walk as every other look at it. What is missing, and what
// is no regular file, has no content; of what is too large to compare only the size is told.
func hostContent(r resource.Resource) (content []byte, size int64, err error) {
	path := strings.TrimPrefix(r.ID, "file:")
	tree := files.Tree{FS: fsys.ReadOnly(fsys.System("/")), Self: uint32(os.Geteuid())}
	stat, err := tree.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case !stat.Exists || stat.Kind != fsys.KindFile:
		return nil, 0, nil
	case stat.Nlink > 1:
		// Whoever owns the directory may have linked a file here that only root may read.
		return nil, 0, fmt.Errorf("it has %d hard links, so it may be a file that belongs elsewhere", stat.Nlink)
	case stat.Size > textdiff.MaxBytes:
		return nil, stat.Size, nil
	}
	content, err = tree.Read(path, 2*textdiff.MaxBytes)
	return content, int64(len(content)), err
}

// secretLine matches a line that sets something whose name says that it is a secret. A manifest holds none, but what stood on the
// host before was written by somebody else.
var secretLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(.*(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|private[_-]?key|credentials?)["']?\s*[:=]\s*)\S.*$`)
})

// hideSecrets replaces values that look like secrets, and everything within a private key, in place.
func hideSecrets(lines []textdiff.Line) {
	key := false
	for i, l := range lines {
		switch {
		case strings.Contains(l.Text, "-----BEGIN") && strings.Contains(l.Text, "PRIVATE KEY"):
			key = true
		case strings.Contains(l.Text, "-----END"):
			key = false
		case l.Kind == '@':
		case key:
			lines[i].Text = "(hidden)"
		default:
			if m := secretLine().FindStringSubmatch(l.Text); m != nil {
				lines[i].Text = m[1] + "(hidden)"
			}
		}
	}
}
