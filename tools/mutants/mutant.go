package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

// mutant is a source file with one thing changed.
type mutant struct {
	folder, file string
	line         int
	what         string
	source       []byte
}

// flips are the operators and what each becomes.
var flips = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS,
	token.GTR: token.LEQ, token.LEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

// mutantsOf makes every mutant of a file: each comparison and each junction flipped, each negation left out.
func mutantsOf(plugins, folder, file string) ([]mutant, error) {
	path := filepath.Join(plugins, folder, file)
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return nil, err
	}
	var all []mutant
	swap := func(at token.Pos, old, new string) {
		p := set.Position(at)
		mutated := append(append(append([]byte(nil), source[:p.Offset]...), new...), source[p.Offset+len(old):]...)
		what := fmt.Sprintf("%s instead of %s", new, old)
		if new == "" {
			what = "without the " + old
		}
		all = append(all, mutant{folder, file, p.Line, what, mutated})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if new, ok := flips[n.Op]; ok {
				swap(n.OpPos, n.Op.String(), new.String())
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				swap(n.OpPos, "!", "")
			}
		}
		return true
	})
	return all, nil
}
