package read

import "gyrum.ai/plugins/guest"

// GroupEntry tells of a group; gid, null for none, is the declared one, of which it says who has it.
func (h Host) GroupEntry(name string, gid guest.Value) (Group, *guest.Error) {
	request := guest.Record("name", name)
	if !gid.IsNull() {
		request = request.With("gid", gid)
	}
	v, err := guest.Reply(h.groupEntry(guest.Encode(request)))
	return Group{v}, err
}

// UserEntry tells of a user; uid, null for none, is the declared one, of which it says who has it. With processes it says
// whether some of the user's run.
func (h Host) UserEntry(name string, uid guest.Value, processes bool) (User, *guest.Error) {
	request := guest.Record("name", name)
	if !uid.IsNull() {
		request = request.With("uid", uid)
	}
	if processes {
		request = request.With("processes", guest.Bool(true))
	}
	v, err := guest.Reply(h.userEntry(guest.Encode(request)))
	return User{v}, err
}

// Entry is what a user and a group have in common.
type Entry struct{ guest.Value }

// Exists says that there is such an account.
func (e Entry) Exists() bool { return e.Get("exists").True() }

// Local says that it is a line of /etc/passwd or /etc/group.
func (e Entry) Local() bool { return e.Get("local").True() }

// TakenBy is the other account that has the declared id, "" for none.
func (e Entry) TakenBy() string { return e.GetText("taken_by") }

// Group is a group.
type Group struct{ guest.Value }

// Entry is what it has in common with a user.
func (g Group) Entry() Entry { return Entry(g) }

// PrimaryOf are the users whose primary group it is.
func (g Group) PrimaryOf() []string { return g.Get("primary_of").Texts() }

// User is a user.
type User struct{ guest.Value }

// Entry is what it has in common with a group.
func (u User) Entry() Entry { return Entry(u) }

// Busy says that processes of the user run.
func (u User) Busy() bool { return u.Get("busy").True() }

// LineState says what a file holds of the resource's line.
func (h Host) LineState(id string) (Line, *guest.Error) {
	v, err := guest.Reply(h.lineState(request("id", id)))
	return Line{v}, err
}

// Line is what a file holds of a managed line.
type Line struct{ guest.Value }

// Managed counts the lines that are meant, Same those of them that read as declared.
func (l Line) Managed() int64 { return l.Get("managed").Number() }

// Same is like Managed.
func (l Line) Same() int64 { return l.Get("same").Number() }

// Anchors counts the lines beside which a new one would go.
func (l Line) Anchors() int64 { return l.Get("anchors").Number() }

// TooLarge says that the file was not read.
func (l Line) TooLarge() bool { return l.Get("too_large").True() }
