package corpus

import (
	"context"
	"path"
	"strconv"
	"strings"

	"gyrum.ai/plugins/guest"
)

// Stage is one host on which the resource of every case lies under a name of its own. It answers as a reading host does.
type Stage struct {
	// own holds the replies of each resource, by its mark.
	own map[string]map[string]string
	// shared answers what names no resource, such as an account.
	shared map[string]string
}

// NewStage puts the resources of some cases, at most about limit, on one host, and gives their records.
func NewStage(typ string, cases []Case, limit int) (*Stage, []guest.Value) {
	s := &Stage{own: map[string]map[string]string{}, shared: map[string]string{}}
	var records []guest.Value
	for i := 0; i < len(cases); i += 1 + len(cases)/limit {
		c := cases[i]
		mark := "-case" + strconv.Itoa(10000+i) + "-"
		rename := func(key string) string {
			dir, name := path.Split(key)
			return dir + "x" + mark + name
		}
		id := c.Declared.GetText("id")
		_, key, _ := strings.Cut(id, ":")
		record := c.Declared.WithText("id", typ+":"+rename(key))
		for _, field := range []string{"path", "name", "creates"} {
			if text := record.GetText(field); text != "" && (text == key || field != "name") {
				record = record.WithText(field, rename(text))
			}
		}
		replies := map[string]string{}
		for capability, reply := range c.Replies {
			replies[capability] = string(guest.Encode(reply))
			s.shared[capability] = replies[capability]
		}
		s.own[mark] = replies
		records = append(records, record)
	}
	return s, records
}

// Ask answers a capability.
func (s *Stage) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	for mark, replies := range s.own {
		if strings.Contains(string(request), mark) {
			if reply, ok := replies[capability]; ok {
				return []byte(reply), nil
			}
		}
	}
	if reply, ok := s.shared[capability]; ok {
		return []byte(reply), nil
	}
	return []byte(`{"error":{"code":"unavailable","text":"the case has no reply"}}`), nil
}
