package canonical

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// maxExact is the largest integer up to which a JSON number keeps every integer apart (2^53).
const maxExact = 1 << 53

// Marshal gives the canonical JSON of v. It takes the types, tags and marshalers that encoding/json takes and differs
// in this: a string that is not UTF-8 enters as [Text] writes it instead of losing bytes, <, > and & stay as they
// are, an embedded json.RawMessage is canonicalised, and an integer beyond 2^53 is an error, since a reader would get
// another one.
func Marshal(v any) ([]byte, error) {
	return appendValue(nil, reflect.ValueOf(v))
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	rawMessage    = reflect.TypeFor[json.RawMessage]()
)

func appendValue(dst []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(dst, "null"...), nil
	}
	t := v.Type()
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return append(dst, "null"...), nil
	}
	switch {
	case t == rawMessage:
		if v.Len() == 0 {
			return append(dst, "null"...), nil
		}
		out, err := Transform(v.Bytes())
		return append(dst, out...), err
	case t.Implements(jsonMarshaler):
		raw, err := v.Interface().(json.Marshaler).MarshalJSON()
		if err != nil {
			return nil, err
		}
		out, err := Transform(raw)
		return append(dst, out...), err
	case t.Implements(textMarshaler):
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return appendString(dst, Text(string(text))), err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendValue(dst, v.Elem())
	case reflect.String:
		return appendString(dst, Text(v.String())), nil
	case reflect.Bool:
		return fmt.Appendf(dst, "%t", v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n > maxExact || n < -maxExact {
			return nil, fmt.Errorf("integer %d is too large for a JSON number", n)
		}
		return fmt.Appendf(dst, "%d", v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > maxExact {
			return nil, fmt.Errorf("integer %d is too large for a JSON number", v.Uint())
		}
		return fmt.Appendf(dst, "%d", v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return appendNumber(dst, v.Float())
	case reflect.Slice:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return appendString(dst, base64.StdEncoding.EncodeToString(v.Bytes())), nil
		}
		return appendArray(dst, v)
	case reflect.Array:
		return appendArray(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	return nil, fmt.Errorf("a %s has no JSON form", t)
}

func appendArray(dst []byte, v reflect.Value) ([]byte, error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("a %s has no JSON form: its keys are no strings", v.Type())
	}
	members := make([]member, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		value, err := appendValue(nil, it.Value())
		if err != nil {
			return nil, err
		}
		members = append(members, member{Text(it.Key().String()), value})
	}
	return appendObject(dst, members)
}

func appendStruct(dst []byte, v reflect.Value) ([]byte, error) {
	var members []member
	for _, f := range fieldsOf(v.Type()) {
		fv, err := v.FieldByIndexErr(f.index)
		if err != nil {
			continue // under an embedded nil pointer
		}
		if f.omitEmpty && isEmpty(fv) || f.omitZero && fv.IsZero() {
			continue
		}
		value, err := appendValue(nil, fv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		members = append(members, member{f.name, value})
	}
	return appendObject(dst, members)
}

type field struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

var fieldCache sync.Map // reflect.Type -> []field

// fieldsOf lists the fields that enter; those of an embedded struct without a tag are promoted.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for _, sf := range reflect.VisibleFields(t) {
		tag := sf.Tag.Get("json")
		if !sf.IsExported() || tag == "-" || sf.Anonymous && tag == "" {
			continue
		}
		if len(sf.Index) > 1 && !promoted(t, sf.Index) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = sf.Name
		}
		f := field{name: name, index: sf.Index}
		for _, o := range strings.Split(options, ",") {
			f.omitEmpty = f.omitEmpty || o == "omitempty"
			f.omitZero = f.omitZero || o == "omitzero"
		}
		fields = append(fields, f)
	}
	fieldCache.Store(t, fields)
	return fields
}

// promoted says that every struct on the way to the field is embedded without a name of its own.
func promoted(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		if t.FieldByIndex(index[:i]).Tag.Get("json") != "" {
			return false
		}
	}
	return true
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
