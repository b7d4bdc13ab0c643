package plugin

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of a module that is not the program's own. Nothing ends a compilation early, and how long it takes grows with more
// than the size: with the product of a function's branches and of what is alive at them. Of gyrum's own modules the largest
// has 2.3 MiB with 1.3 MiB of code in 1366 functions, 12 KiB and 17 variables in one, 338 blocks within each other, 7 values
// on a stack, and 28,000 and 1.6 million branches times variables in one and in all. What lies within the bounds compiles in
// six seconds on two cores. docs/plugin-guide.md has them.
const (
	maxModule    = 16 << 20
	maxCode      = 5 << 20
	maxFunctions = 1 << 14
	maxBody      = 96 << 10
	maxLocals    = 1 << 10
	maxDepth     = 1 << 12
	maxStack     = 1 << 10
	maxWork      = 1 << 18
	maxAllWork   = 1 << 23
	maxTables    = 1 << 16
	maxElements  = 1 << 20
)

// boundError says which bound a module is over.
func boundError(what string, is, most int) error {
	return fmt.Errorf("it has %s %d; gyrum takes at most %d", what, is, most)
}

// function is the measures of one function.
type function struct {
	bytes int
	// locals counts the parameters too.
	locals int
	// depth is of blocks within blocks, stack of values that wait.
	depth, stack int
	// branches counts blocks and the places that instructions may branch to.
	branches int
}

// work tells how long a function takes to compile, in units of somewhat over a microsecond: the compiler looks at what is
// alive at each branch, and at the branches of each branch.
func (f *function) work() int { return f.branches * (f.locals + f.stack + f.branches/128) }

// check holds a function against the bounds.
func (f *function) check() error {
	for _, b := range []struct {
		what     string
		is, most int
	}{
		{"bytes of code in one function:", f.bytes, maxBody},
		{"local variables in one function:", f.locals, maxLocals},
		{"blocks within blocks:", f.depth, maxDepth},
		{"values on the stack of one function:", f.stack, maxStack},
		{"branches times variables in one function:", f.work(), maxWork},
	} {
		if b.is > b.most {
			return boundError(b.what, b.is, b.most)
		}
	}
	return nil
}

// arity is how many values something takes and leaves.
type arity struct{ takes, leaves int }

func arityOf(signature string) arity {
	params, results, _ := strings.Cut(signature, "->")
	return arity{len(valuesOf(params)), len(valuesOf(results))}
}

// arities gives those of a list of signatures. None may leave several values.
func arities(signatures []string) ([]arity, error) {
	known := map[string]arity{}
	out := make([]arity, len(signatures))
	for i, s := range signatures {
		a, ok := known[s]
		if !ok {
			a = arityOf(s)
			known[s] = a
		}
		if a.leaves > 1 {
			return nil, errSeveralValues
		}
		out[i] = a
	}
	return out, nil
}

// boundTables holds a table section against the bounds: a table is made for each instance.
func boundTables(r *sectionReader) {
	total := 0
	r.each(func() {
		r.valueType()
		flags := r.byte()
		total = min(total+int(r.u32()), 1<<32)
		if flags&1 != 0 {
			r.u32()
		}
	})
	if r.err == nil && total > maxTables {
		r.fail(boundError("entries of tables:", total, maxTables))
	}
}

var errIndex = errors.New("it names a function, type or block that does not exist")
