// Package guest is what a plugin is made with: JSON values with one canonical form, the phases observe, diff and apply
// over batches, and, for GOOS=wasip1, the boundary "gyrum/1" to the engine. Its sub-packages read and write hold the
// capabilities, so that a module's import section shows exactly the ones it uses.
//
// It knows no resource type. It does without fmt, encoding/json, reflect and os, which would add megabytes to every
// module and imports that the engine does not serve.
package guest

// Kind says what a Value holds.
type Kind uint8

// The kinds of a Value.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindString
	KindList
	KindObject
)

// Value is one JSON value; the zero Value is null. Numbers are integers, as everything at the boundary is. A Value is
// not changed once it is made, and it is a single pointer: a struct that is copied by value costs hundreds of bytes of
// code at every call in a module.
type Value struct{ node *node }

type node struct {
	kind   Kind
	number int64 // also a boolean, as 0 or 1
	text   string
	list   []Value
	fields []Field
}

// Field is one member of an object.
type Field struct {
	Name  string
	Value Value
}

// Null is the JSON null.
var Null = Value{}

// yes and no are the booleans; a Value is not changed, so one of each is enough.
var yes, no = &node{kind: KindBool, number: 1}, &node{kind: KindBool}

// Bool makes a JSON boolean.
func Bool(b bool) Value {
	if b {
		return Value{yes}
	}
	return Value{no}
}

// Int makes a JSON number.
func Int(n int64) Value { return Value{&node{kind: KindInt, number: n}} }

// String makes a JSON string.
func String(s string) Value { return Value{&node{kind: KindString, text: s}} }

// List makes a JSON array.
func List(values ...Value) Value { return Value{&node{kind: KindList, list: values}} }

// Strings makes a JSON array of strings.
func Strings(texts []string) Value {
	list := make([]Value, len(texts))
	for i, s := range texts {
		list[i] = String(s)
	}
	return List(list...)
}

// Object makes a JSON object without members.
func Object() Value { return Value{&node{kind: KindObject}} }

// Record makes a JSON object of strings, from names and texts in turn.
func Record(namesAndTexts ...string) Value {
	n := &node{kind: KindObject, fields: make([]Field, 0, len(namesAndTexts)/2+1)} // one more is often added
	for i := 0; i+1 < len(namesAndTexts); i += 2 {
		n.put(Field{namesAndTexts[i], String(namesAndTexts[i+1])})
	}
	return Value{n}
}

// put sets a member of a node that is still being made.
func (n *node) put(f Field) {
	for i := range n.fields {
		if n.fields[i].Name == f.Name {
			n.fields[i].Value = f.Value
			return
		}
	}
	n.insert(f)
}

// With gives the object with one member set; a null Value counts as an empty object. Members are kept in the order of
// RFC 8785, so that nothing is left to sort when the object is written.
func (v Value) With(name string, value Value) Value {
	old := v.Fields()
	at := 0
	for at < len(old) && byName(old[at].Name, name) < 0 {
		at++
	}
	rest := at
	if at < len(old) && old[at].Name == name {
		rest++
	}
	fields := make([]Field, 0, len(old)+1)
	fields = append(append(fields, old[:at]...), Field{name, value})
	return Value{&node{kind: KindObject, fields: append(fields, old[rest:]...)}}
}

// WithText is With for a string.
func (v Value) WithText(name, text string) Value { return v.With(name, String(text)) }

// Kind says what the value holds.
func (v Value) Kind() Kind {
	if v.node == nil {
		return KindNull
	}
	return v.node.kind
}

// IsNull says that the value is null, which a member that does not exist is too.
func (v Value) IsNull() bool { return v.node == nil }

// Get gives a member of an object; null when there is none or the value is no object.
func (v Value) Get(name string) Value {
	for _, f := range v.Fields() {
		if f.Name == name {
			return f.Value
		}
	}
	return Null
}

// GetText gives the text of a member that is a string.
func (v Value) GetText(name string) string { return v.Get(name).Text() }

// Has says whether an object has a member.
func (v Value) Has(name string) bool {
	for _, f := range v.Fields() {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Fields gives the members of an object, by name.
func (v Value) Fields() []Field {
	if v.node == nil {
		return nil
	}
	return v.node.fields
}

// Items gives the elements of an array.
func (v Value) Items() []Value {
	if v.node == nil {
		return nil
	}
	return v.node.list
}

// Text gives a string's text, and "" for any other kind.
func (v Value) Text() string {
	if v.node == nil {
		return ""
	}
	return v.node.text
}

// True says that the value is the boolean true.
func (v Value) True() bool { return v.Kind() == KindBool && v.node.number != 0 }

// Number gives a number, and 0 for any other kind.
func (v Value) Number() int64 {
	if v.Kind() != KindInt {
		return 0
	}
	return v.node.number
}

// Texts gives the strings of an array.
func (v Value) Texts() []string {
	var texts []string
	for _, item := range v.Items() {
		if item.Kind() == KindString {
			texts = append(texts, item.Text())
		}
	}
	return texts
}
