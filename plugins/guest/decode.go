package guest

// maxDepth bounds the nesting of a document, so that no input can exhaust the stack.
const maxDepth = 64

// Error is a problem with a stable code, as it crosses the boundary: what a capability answered, or what was wrong
// with a document.
type Error struct {
	// Code is a stable word such as permission-denied.
	Code string
	// Text is for people.
	Text string
	// Detail is what a capability answered beside the error, null when there was nothing.
	Detail Value
}

// Error gives the text.
func (e *Error) Error() string { return e.Text }

// Decode reads one JSON document. Numbers that are not integers of 64 bits, names given twice and text that is not
// UTF-8 are errors: none of them is canonical JSON as the boundary has it.
func Decode(document []byte) (Value, *Error) {
	d := decoder{in: string(document)}
	v := d.value(0)
	if d.space(); d.wrong == "" && d.at < len(d.in) {
		d.fail("more follows after the value")
	}
	if d.wrong != "" {
		return Null, &Error{Code: "invalid", Text: "bad JSON at byte " + string(appendInt(nil, int64(d.at))) + ": " + d.wrong}
	}
	return v, nil
}

// decoder reads from a copy of the document, of which the texts without escapes are parts: in a module, an allocation costs
// more than anything else here.
type decoder struct {
	in    string
	at    int
	wrong string
	// spare are nodes to be used next.
	spare []node
}

// node makes a node out of the spare ones.
func (d *decoder) node(kind Kind) *node {
	if len(d.spare) == 0 {
		// A small reply has few values, a batch thousands.
		d.spare = make([]node, min(max((len(d.in)-d.at)/16, 4), 64))
	}
	n := &d.spare[0]
	d.spare = d.spare[1:]
	n.kind = kind
	return n
}

// fail keeps the first problem and goes to the end of the input, where every loop ends.
func (d *decoder) fail(why string) Value {
	if d.wrong == "" {
		d.wrong = why
	}
	return Null
}

func (d *decoder) space() {
	for d.at < len(d.in) && (d.in[d.at] == ' ' || d.in[d.at] == '\n' || d.in[d.at] == '\t' || d.in[d.at] == '\r') {
		d.at++
	}
}

// peek gives the next byte that is no space, 0 at the end.
func (d *decoder) peek() byte {
	if d.space(); d.at < len(d.in) {
		return d.in[d.at]
	}
	return 0
}

// take passes the next byte that is no space when it is c.
func (d *decoder) take(c byte) bool {
	if d.peek() == c && d.at < len(d.in) {
		d.at++
		return true
	}
	return false
}

func (d *decoder) value(depth int) Value {
	if depth > maxDepth {
		return d.fail("nested too deeply")
	}
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.list(depth)
	case c == '"':
		n := d.node(KindString)
		n.text = d.string()
		return Value{n}
	case c == '-' || c >= '0' && c <= '9':
		return d.int()
	case c == 't':
		return d.word("true", Bool(true))
	case c == 'f':
		return d.word("false", Bool(false))
	case c == 'n':
		return d.word("null", Null)
	}
	return d.fail("a value is missing")
}

func (d *decoder) word(word string, v Value) Value {
	if len(d.in)-d.at < len(word) || d.in[d.at:d.at+len(word)] != word {
		return d.fail("no such word")
	}
	d.at += len(word)
	return v
}

func (d *decoder) object(depth int) Value {
	d.at++
	v := Value{d.node(KindObject)}
	if d.take('}') {
		return v
	}
	v.node.fields = make([]Field, 0, 8)
	for d.wrong == "" {
		if d.peek() != '"' {
			return d.fail("a name is missing")
		}
		name := d.string()
		if v.Has(name) {
			return d.fail("a name is given twice")
		}
		if !d.take(':') {
			return d.fail("a colon is missing")
		}
		v.node.insert(Field{name, d.value(depth + 1)})
		if d.take('}') {
			return v
		}
		if !d.take(',') {
			return d.fail("a comma is missing")
		}
	}
	return Null
}

// insert puts a member in its place; canonical documents come in order, so that is the end.
func (n *node) insert(f Field) {
	n.fields = append(n.fields, f)
	for i := len(n.fields) - 1; i > 0 && byName(n.fields[i-1].Name, f.Name) > 0; i-- {
		n.fields[i], n.fields[i-1] = n.fields[i-1], f
	}
}

func (d *decoder) list(depth int) Value {
	d.at++
	v := Value{d.node(KindList)}
	if d.take(']') {
		return v
	}
	for d.wrong == "" {
		v.node.list = append(v.node.list, d.value(depth+1))
		if d.take(']') {
			return v
		}
		if !d.take(',') {
			return d.fail("a comma is missing")
		}
	}
	return Null
}

func (d *decoder) int() Value {
	start := d.at
	negative := d.in[d.at] == '-'
	if negative {
		d.at++
	}
	first := d.at
	var n uint64
	for d.at < len(d.in) && d.in[d.at] >= '0' && d.in[d.at] <= '9' {
		digit := uint64(d.in[d.at] - '0')
		if n > (1<<63-digit)/10 {
			return d.fail("a number is too large")
		}
		n = n*10 + digit
		d.at++
	}
	switch {
	case d.at == first:
		return d.fail("a digit is missing")
	case d.in[first] == '0' && d.at > first+1:
		return d.fail("a number begins with 0")
	case d.at < len(d.in) && (d.in[d.at] == '.' || d.in[d.at] == 'e' || d.in[d.at] == 'E'):
		return d.fail("a number is no integer")
	case !negative && n > 1<<63-1:
		return d.fail("a number is too large")
	case negative && n == 0:
		d.at = start
		return d.fail("minus zero")
	}
	v := d.node(KindInt)
	if v.number = int64(n); negative {
		v.number = -int64(n)
	}
	return Value{v}
}
