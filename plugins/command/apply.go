package command

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/guest/write"
)

// Apply runs the command. A success that leaves nothing at creates is a failure: the command would run for ever.
func Apply(look read.Host, do write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	if action.Verb != "run" {
		return guest.Null, guest.UnknownVerb(action)
	}
	record, err := do.CommandRun(declared.GetText("id"))
	if err != nil {
		return guest.Null, err
	}
	creates := declared.GetText("creates")
	if creates == "" {
		return record, nil
	}
	exists, err := look.PathExists(creates)
	switch {
	case err != nil:
		err.Detail = record
		return guest.Null, err
	case !exists:
		return guest.Null, &guest.Error{
			Code: "not-created", Detail: record,
			Text: "the command succeeded but " + creates + " does not exist; correct the command, or what creates names",
		}
	}
	return record, nil
}
