package host

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/resource"
)

type accountRequest struct {
	User  string `json:"user,omitempty"`
	Group string `json:"group,omitempty"`
}

type accountFact struct {
	Exists bool    `json:"exists"`
	ID     *uint32 `json:"id,omitempty"`
}

type accountReply struct {
	User  *accountFact `json:"user,omitempty"`
	Group *accountFact `json:"group,omitempty"`
}

func (r *Reader) account(_ context.Context, q accountRequest) (accountReply, error) {
	var reply accountReply
	var err error
	if q.User != "" {
		if reply.User, err = factOf(r.cfg.Accounts.User(q.User)); err != nil {
			return reply, err
		}
	}
	if q.Group != "" {
		reply.Group, err = factOf(r.cfg.Accounts.Group(q.Group))
	}
	return reply, err
}

func factOf(id uint32, exists bool, err error) (*accountFact, error) {
	if err != nil || !exists {
		return &accountFact{}, err
	}
	return &accountFact{Exists: true, ID: &id}, nil
}

type nameRequest struct {
	Name string `json:"name"`
}

func (r *Reader) packageState(ctx context.Context, q nameRequest) (PackageState, error) {
	s, err := r.cfg.Packages.Package(ctx, q.Name)
	if s.Providers == nil {
		s.Providers = []string{}
	}
	return s, err
}

type compareRequest struct {
	A string `json:"a"`
	B string `json:"b"`
}

type compareReply struct {
	Order int `json:"order"`
}

func (r *Reader) packageCompare(_ context.Context, q compareRequest) (compareReply, error) {
	order, err := r.cfg.Packages.Compare(q.A, q.B)
	return compareReply{order}, err
}

func (r *Reader) packageSimulate(ctx context.Context, q PackageChange) (PackageSimulation, error) {
	s, err := r.cfg.Packages.Simulate(ctx, q)
	for _, list := range []*[]string{&s.Installs, &s.Upgrades, &s.Downgrades, &s.Removes} {
		if *list == nil {
			*list = []string{}
		}
	}
	return s, err
}

type unitRequest struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (r *Reader) unit(ctx context.Context, q unitRequest) (UnitState, error) {
	res, err := r.find(q.ID, "systemd_unit")
	if err != nil {
		return UnitState{}, misuse(err)
	}
	query, err := r.unitQuery(res)
	if err != nil {
		return UnitState{}, err
	}
	if query.Name != q.Name {
		return UnitState{}, misusef("%s is not about the unit %q", q.ID, q.Name)
	}
	s, err := r.cfg.Units.Unit(ctx, query)
	if other := r.resources["systemd_unit:"+s.AliasOf]; err == nil && s.AliasOf != "" && other != nil {
		// Two resources would change one unit, each in its own way.
		err = fault.New(fault.Invalid, "%s is an alias of %s, which %s declares: declare that one only", q.Name, s.AliasOf, other.ID)
	}
	for _, list := range []*[]string{&s.TriggeredBy, &s.Inputs, &s.StaleInputs} {
		if *list == nil {
			*list = []string{}
		}
	}
	return s, err
}

// unitQuery gives the question about a unit with what its resource says of its inputs.
func (r *Reader) unitQuery(res *resource.Resource) (UnitQuery, error) {
	var d struct {
		Name      string   `json:"name"`
		UnitFile  string   `json:"unit_file"`
		RestartOn []string `json:"restart_on"`
	}
	if err := json.Unmarshal(res.Declared, &d); err != nil {
		return UnitQuery{}, misusef("declared record of %s: %w", res.ID, err)
	}
	q := UnitQuery{Name: d.Name, UnitFile: d.UnitFile, Look: r.Look}
	for _, id := range d.RestartOn {
		// An id is its type and its natural key.
		typ, key, ok := strings.Cut(id, ":")
		switch {
		case !ok:
			return UnitQuery{}, misusef("%s names %q in restart_on, which is no id", res.ID, id)
		case typ == "package":
			q.RestartOn = append(q.RestartOn, UnitInput{ID: id, Package: key})
		case typ == "line":
			// The file is the input; the key behind the last # is no part of its path.
			q.RestartOn = append(q.RestartOn, UnitInput{ID: id, Path: path.Clean(key[:max(0, strings.LastIndexByte(key, '#'))])})
		default:
			q.RestartOn = append(q.RestartOn, UnitInput{ID: id, Path: path.Clean(key)})
		}
	}
	if q.UnitFile != "" {
		q.UnitFile = path.Clean(q.UnitFile)
	}
	return q, nil
}
