package engine

import (
	"fmt"
	"path"
	"slices"

	"gyrum.ai/engine/resource"
)

// clashes finds resources that own one path by different names, which only the host's symlinks tell: whatever one of them writes
// the other would take for drift. It gives each of their ids what to say. All of the host's resources count, also those that the
// selection leaves out.
func (o *CheckOptions) clashes() map[string]string {
	if o.Resolve == nil {
		return nil
	}
	folders := map[string]string{} // as written, to what it really is
	owners := map[string][]resource.Resource{}
	for _, r := range o.Target.Resources {
		p := touchesOf(r).path
		if p == "" || p == "/" {
			continue
		}
		dir, base := path.Split(p)
		real, known := folders[dir]
		if !known {
			// Any name in the folder has the folder's real path before it. A folder that cannot be walked is its plugin's to report.
			real = dir
			if resolved, err := o.Resolve(path.Join(dir, base)); err == nil {
				real = path.Dir(resolved)
			}
			folders[dir] = real
		}
		real = path.Join(real, base)
		owners[real] = append(owners[real], r)
	}
	said := map[string]string{}
	for real, rs := range owners {
		for i, r := range rs {
			for _, other := range slices.Concat(rs[i+1:], rs[:i]) {
				if touchesOf(r).part && touchesOf(other).part {
					continue // several lines of one file
				}
				said[r.ID] = fmt.Sprintf("R7: on this host it is the same path as %s of role %s, namely %s: declare it once", other.ID, other.Role, real)
				break
			}
		}
	}
	return said
}
