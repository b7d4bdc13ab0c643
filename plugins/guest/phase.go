package guest

// ABI is the version of the boundary that this SDK speaks, as gyrum_abi exports it.
const ABI = 1

// What a phase function returns beside its output.
const (
	// StatusAnswer says that the output is the answer.
	StatusAnswer int32 = 0
	// StatusError says that the output is {"error":{"code","text"}}, with "output" beside it where there is one.
	StatusError int32 = 1
)

// Phase answers one request of the engine.
type Phase func(request []byte) (output []byte, status int32)

// Reason is why there is an item: a stable code and a text for people.
type Reason struct{ Code, Text string }

// Observation is what observe says of one resource.
type Observation struct {
	// Observed is the comparable record, null when the resource is absent.
	Observed Value
	// Facts is what diff needs besides the record.
	Facts Value
	// Inputs are the paths and ids whose change by another item matters to the resource.
	Inputs []string
	// PackageMayStart says that a package installed earlier in a plan may bring the resource up.
	PackageMayStart bool
	// Unobservable is set when the state could not be seen; Observed is null then.
	Unobservable *Reason
}

// Unseen is the observation of a resource whose state could not be seen: an error, never the same as absent.
func Unseen(e *Error) Observation {
	return Observation{Unobservable: &Reason{"unobservable", e.Text}}
}

func (o Observation) value() Value {
	n := &node{kind: KindObject, fields: make([]Field, 0, 5)}
	if !o.Facts.IsNull() {
		n.insert(Field{"facts", o.Facts})
	}
	if len(o.Inputs) > 0 {
		n.insert(Field{"inputs", Strings(o.Inputs)})
	}
	n.insert(Field{"observed", o.Observed})
	if o.PackageMayStart {
		n.insert(Field{"package_may_start", Bool(true)})
	}
	if o.Unobservable != nil {
		n.insert(Field{"unobservable", o.Unobservable.value()})
	}
	return Value{n}
}

func (r Reason) value() Value {
	return Record("code", r.Code, "text", r.Text)
}

// Observing makes the phase observe of a function that observes one resource.
func Observing(observe func(declared Value) Observation) Phase {
	return batch(func(declared Value) Value { return observe(declared).value() })
}

// batch answers {"resources":[...]} with {"results":[...]}, one for each, in order.
func batch(one func(Value) Value) Phase {
	return func(request []byte) ([]byte, int32) {
		doc, err := Decode(request)
		if err != nil {
			return err.document(), StatusError
		}
		resources := doc.Get("resources").Items()
		results := make([]Value, 0, len(resources))
		for _, r := range resources {
			results = append(results, one(r))
		}
		return Encode(Object().With("results", List(results...))), StatusAnswer
	}
}

// document is the error as the boundary carries it.
func (e *Error) document() []byte {
	v := Object().With("error", Reason{e.Code, e.Text}.value())
	if !e.Detail.IsNull() {
		v = v.With("output", e.Detail)
	}
	return Encode(v)
}

// Action is the change that apply is to make.
type Action struct {
	Verb   string
	Params Value
	// Observed is the resource's record as it was seen just before.
	Observed Value
}

// Text gives a parameter that is a string.
func (a Action) Text(name string) string { return a.Params.GetText(name) }

// Has says whether the action has a parameter.
func (a Action) Has(name string) bool { return a.Params.Has(name) }

// Applying makes the phase apply of a function that performs one action. What it returns beside success is kept with
// the item.
func Applying(apply func(declared Value, action Action) (output Value, err *Error)) Phase {
	return func(request []byte) ([]byte, int32) {
		doc, err := Decode(request)
		if err != nil {
			return err.document(), StatusError
		}
		action := doc.Get("action")
		output, err := apply(doc.Get("declared"), Action{
			Verb: action.GetText("verb"), Params: action.Get("params"), Observed: doc.Get("observed"),
		})
		if err != nil {
			return err.document(), StatusError
		}
		if output.IsNull() {
			return []byte("{}"), StatusAnswer
		}
		return Encode(Object().With("output", output)), StatusAnswer
	}
}

// UnknownVerb is the error of apply for an action that the type does not have.
func UnknownVerb(a Action) *Error {
	return &Error{Code: "invalid", Text: "no action of this type: " + a.Verb}
}
