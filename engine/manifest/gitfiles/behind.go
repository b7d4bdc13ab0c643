package gitfiles

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxCommits bounds how many commits are read to count how far upstream is ahead.
const maxCommits = 500

// commit is what counting needs of one.
type commit struct {
	tree    ID
	parents []ID
	time    int64 // the committer's, in seconds since the epoch
}

// commit reads a commit's header.
func (s *store) commit(id ID) (*commit, error) {
	kind, raw, err := s.object(id)
	if err != nil {
		return nil, err
	}
	if kind != kindCommit {
		return nil, fmt.Errorf("%s is no commit", id)
	}
	c := &commit{}
	for line := range bytes.Lines(raw) {
		word, rest, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
		switch word {
		case "":
			return c, nil
		case "tree":
			c.tree = ID(rest)
		case "parent":
			c.parents = append(c.parents, ID(rest))
		case "committer":
			fields := strings.Fields(rest)
			if len(fields) >= 2 {
				c.time, _ = strconv.ParseInt(fields[len(fields)-2], 10, 64) // a damaged date only changes the order
			}
		}
	}
	return c, nil
}

// Behind counts the commits that the branch's upstream, as last fetched, has and the checkout has not. It is nil when
// there is no upstream, or counting would take too long.
func (c *Checkout) Behind() *int {
	up, err := c.upstream()
	if err != nil {
		return nil
	}
	n, err := c.missing(up)
	if err != nil {
		return nil
	}
	return &n
}

// upstream gives the commit of the branch's upstream by the repository's configuration.
func (c *Checkout) upstream() (ID, error) {
	name, ok := strings.CutPrefix(c.branch, "refs/heads/")
	if !ok {
		return "", ErrNone
	}
	raw, err := os.ReadFile(filepath.Join(c.common, "config"))
	if err != nil {
		return "", err
	}
	var remote, merge string
	in := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = line == `[branch "`+name+`"]`
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if !in {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "remote":
			remote = strings.TrimSpace(value)
		case "merge":
			merge = strings.TrimSpace(value)
		}
	}
	ref := merge // a branch of this very repository
	if remote != "." {
		branch, ok := strings.CutPrefix(merge, "refs/heads/")
		if !ok || remote == "" {
			return "", ErrNone
		}
		ref = "refs/remotes/" + remote + "/" + branch
	}
	id, err := c.ref(ref, 0)
	return ID(id), err
}

// The sides that a commit was reached from.
const (
	fromHead = 1 << iota
	fromUpstream
)

// visit is a commit that is still to be followed.
type visit struct {
	id ID
	*commit
}

// queue gives the youngest commit first.
type queue []visit

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].time > q[j].time }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(v any)        { *q = append(*q, v.(visit)) }
func (q *queue) Pop() any {
	old := *q
	v := old[len(old)-1]
	*q = old[:len(old)-1]
	return v
}

// missing counts what upstream reaches and the present commit does not, youngest commits first, until everything
// left is reached from the present commit.
func (c *Checkout) missing(up ID) (int, error) {
	if up == c.Head {
		return 0, nil
	}
	shallow := map[ID]bool{}
	if raw, err := os.ReadFile(filepath.Join(c.common, "shallow")); err == nil {
		for _, id := range strings.Fields(string(raw)) {
			shallow[ID(id)] = true
		}
	}
	sides := map[ID]int{}
	q := &queue{}
	add := func(id ID, side int) error {
		have := sides[id]
		if have|side == have {
			return nil
		}
		sides[id] = have | side
		if len(sides) > maxCommits {
			return errors.New("too many commits to count")
		}
		cm, err := c.store.commit(id)
		if err != nil {
			return err
		}
		heap.Push(q, visit{id, cm}) // also one that was followed before: its parents have to hear of the other side
		return nil
	}
	if err := add(c.Head, fromHead); err != nil {
		return 0, err
	}
	if err := add(up, fromUpstream); err != nil {
		return 0, err
	}
	unsettled := func(v visit) bool { return sides[v.id] == fromUpstream }
	for slices.ContainsFunc(*q, unsettled) {
		v := heap.Pop(q).(visit)
		if shallow[v.id] {
			if unsettled(v) {
				return 0, errors.New("the history is cut off before it meets")
			}
			continue
		}
		for _, p := range v.parents {
			if err := add(p, sides[v.id]); err != nil {
				return 0, err
			}
		}
	}
	n := 0
	for _, side := range sides {
		if side == fromUpstream {
			n++
		}
	}
	return n, nil
}
