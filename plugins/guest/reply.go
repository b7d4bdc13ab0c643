package guest

// Reply reads a capability's reply. One of the form {"error":{"code","text"}} becomes the error, with whatever stands
// beside it as its detail. A reply that is no JSON object is the engine's fault and ends the module.
func Reply(raw []byte) (Value, *Error) {
	v, err := Decode(raw)
	if err != nil {
		panic("reply of a capability: " + err.Text)
	}
	if v.Kind() != KindObject {
		panic("reply of a capability: no object")
	}
	failure := v.Get("error")
	if failure.IsNull() {
		return v, nil
	}
	e := &Error{Code: failure.Get("code").Text(), Text: failure.Get("text").Text()}
	for _, f := range v.Fields() {
		if f.Name != "error" {
			e.Detail = e.Detail.With(f.Name, f.Value)
		}
	}
	return Null, e
}
