package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"

	"cuelang.org/go/cue"
)

// plugin is what a plugin.cue says.
type plugin struct {
	Type     string
	Verbs    []string
	Decision string

	observe, apply map[string]struct{}
	sums           string // of all modules
}

func (g *gate) read() error {
	return errors.Join(g.readPlugins(), g.readDefinitions(), g.readSchemas(), g.readPages(), g.readRecords())
}

func (g *gate) readPlugins() error {
	g.plugins = map[string]*plugin{}
	sums, err := os.ReadFile(filepath.Join(g.root, "plugins/dist/SHA256SUMS"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := filepath.Glob(filepath.Join(g.root, "plugins/*/plugin.cue"))
	if err != nil {
		return err
	}
	ctx := cuecontext.New()
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		raw, err := ctx.CompileBytes(source, cue.Filename(file)).LookupPath(cue.ParsePath("plugin")).MarshalJSON()
		if err != nil {
			return fmt.Errorf("%s: the record plugin: %w", file, err)
		}
		p := &plugin{sums: string(sums)}
		var grants struct{ Observe, Apply map[string]struct{} }
		if err := errors.Join(json.Unmarshal(raw, p), json.Unmarshal(raw, &grants)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		p.observe, p.apply = grants.Observe, grants.Apply
		g.plugins[filepath.Base(filepath.Dir(file))] = p
	}
	return nil
}

// readDefinitions finds the names in #Type and in #types.
func (g *gate) readDefinitions() error {
	typ, err := definition(filepath.Join(g.root, "cue/role.cue"), "#Type")
	if err != nil {
		return err
	}
	ast.Walk(typ, func(n ast.Node) bool {
		if _, call := n.(*ast.CallExpr); call {
			return false // the words of the error
		}
		if lit, ok := n.(*ast.BasicLit); ok {
			if s, err := literal.Unquote(lit.Value); err == nil {
				g.listed = append(g.listed, s)
			}
		}
		return true
	}, nil)
	types, err := definition(filepath.Join(g.root, "cue/types.cue"), "#types")
	if err != nil {
		return err
	}
	fields, ok := types.(*ast.StructLit)
	if !ok {
		return fmt.Errorf("cue/types.cue: #types is no struct")
	}
	for _, d := range fields.Elts {
		if f, ok := d.(*ast.Field); ok {
			if name, _, err := ast.LabelName(f.Label); err == nil {
				g.defined = append(g.defined, name)
			}
		}
	}
	return nil
}

func definition(file, name string) (ast.Expr, error) {
	f, err := parser.ParseFile(file, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if field, ok := d.(*ast.Field); ok {
			if label, _, err := ast.LabelName(field.Label); err == nil && label == name {
				return field.Value, nil
			}
		}
	}
	return nil, fmt.Errorf("%s does not define %s", file, name)
}

// readSchemas finds the enumerations of the first and of the newest schema of drift items.
func (g *gate) readSchemas() error {
	files, err := filepath.Glob(filepath.Join(g.root, "schemas/drift-item.v*.json"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, errors.New("there is no schemas/drift-item.v1.json"))
	}
	sort.Slice(files, func(i, j int) bool {
		return len(files[i]) < len(files[j]) || len(files[i]) == len(files[j]) && files[i] < files[j]
	})
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var schema struct {
			Properties struct {
				Resource struct {
					Properties struct {
						Type struct {
							Enum []string
							// AnyOf holds the enumeration where a catalog's own types are allowed beside it.
							AnyOf []struct{ Enum []string }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(raw, &schema); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		g.enum = schema.Properties.Resource.Properties.Type.Enum
		for _, one := range schema.Properties.Resource.Properties.Type.AnyOf {
			g.enum = append(g.enum, one.Enum...)
		}
		g.file = "schemas/" + filepath.Base(file)
		if g.v1 == nil {
			g.v1 = g.enum
		}
	}
	return nil
}

func (g *gate) readPages() error {
	files, err := filepath.Glob(filepath.Join(g.root, "docs/types/*.md"))
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".md"); name != "README" {
			g.pages = append(g.pages, name)
		}
	}
	return err
}
