package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	definitions "gyrum.ai/cue"
)

// vendored is where plain cue finds the definitions of a catalog.
const vendored = "cue.mod/pkg/gyrum.ai/cue"

// ownTypes gives what is exported of a catalog's own types, by its path in the catalog: what a program without CUE reads,
// and where the catalog has the definitions vendored, the same types there.
func ownTypes(catalog string) (map[string][]byte, error) {
	folders, err := filepath.Glob(filepath.Join(catalog, "plugins", "x_*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(folders)
	files, err := sources()
	if err != nil {
		return nil, err
	}
	r, err := read(files)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	var names []string
	vendors := exists(filepath.Join(catalog, vendored))
	for _, folder := range folders {
		name := filepath.Base(folder)
		names = append(names, name)
		typeCUE, err := os.ReadFile(filepath.Join(folder, "type.cue"))
		if err != nil {
			return nil, err
		}
		pluginCUE, err := os.ReadFile(filepath.Join(folder, "plugin.cue"))
		if err != nil {
			return nil, err
		}
		dir := "plugins/" + name + "/"
		if out[dir+"plugin.json"], err = pluginJSON(folder, name, pluginCUE); err != nil {
			return nil, fmt.Errorf("%splugin.cue: %w", dir, err)
		}
		if out[dir+"type.json"], err = r.typeJSON(name, typeCUE, map[string]string{"plugin.cue": sum(pluginCUE), "type.cue": sum(typeCUE)}); err != nil {
			return nil, fmt.Errorf("%stype.cue: %w", dir, err)
		}
		if vendors {
			out[vendored+"/"+name+".cue"] = typeCUE
		}
	}
	if !vendors {
		return out, nil
	}
	if out[vendored+"/role.cue"], err = widen(names); err != nil {
		return nil, err
	}
	for name := range out {
		if file, ok := strings.CutPrefix(name, vendored+"/"); ok {
			files[file] = out[name]
		}
	}
	all, err := read(files)
	if err != nil {
		return nil, err
	}
	out[vendored+"/"+judgedFile], err = all.judged()
	return out, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(s[:])
}

// pluginJSON evaluates a plugin.cue and adds the digests of the modules beside it.
func pluginJSON(folder, name string, source []byte) ([]byte, error) {
	v := cuecontext.New().CompileBytes(source).LookupPath(cue.ParsePath("plugin"))
	raw, err := v.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var record map[string]any
	if err := json.Unmarshal(raw, &record); err != nil {
		return nil, err
	}
	if record["type"] != name {
		return nil, fmt.Errorf("type is %v, the folder says %s; they must be the same", record["type"], name)
	}
	digests := map[string]string{}
	for _, phase := range []string{"observe", "apply"} {
		module, err := os.ReadFile(filepath.Join(folder, phase+".wasm"))
		if err != nil {
			return nil, fmt.Errorf("build the modules first: %w", err)
		}
		digests[phase] = sum(module)
	}
	record["digests"] = digests
	return encode(map[string]any{"plugin": record})
}

// typeJSON exports the definition of a type, written as #types: <name>: {…} in package gyrum, with all that the
// definitions have at hand.
func (r *reader) typeJSON(name string, source []byte, sources map[string]string) ([]byte, error) {
	file, err := parser.ParseFile("type.cue", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if file.PackageName() != "gyrum" {
		return nil, fmt.Errorf("its package is %q; write package gyrum", file.PackageName())
	}
	var def *ast.Field
	for _, d := range file.Decls {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		label, _, err := ast.LabelName(f.Label)
		types, isStruct := f.Value.(*ast.StructLit)
		if err != nil || label != "#types" || !isStruct || len(types.Elts) != 1 || def != nil {
			return nil, fmt.Errorf("it holds #types: %s: {…} and nothing else", name)
		}
		def, _ = types.Elts[0].(*ast.Field)
		if def == nil {
			return nil, fmt.Errorf("it holds #types: %s: {…} and nothing else", name)
		}
		ast.SetComments(def, append(ast.Comments(def), ast.Comments(f)...))
	}
	if def == nil {
		return nil, fmt.Errorf("it lacks #types: %s: {…}", name)
	}
	if label, _, _ := ast.LabelName(def.Label); label != name {
		return nil, fmt.Errorf("it defines %s, the folder says %s", label, name)
	}
	if s, ok := def.Value.(*ast.StructLit); ok {
		for _, d := range s.Elts {
			if _, rule := d.(*ast.Comprehension); rule {
				return nil, fmt.Errorf("a rule across fields (if) cannot be exported; let the plugin's diff refuse it")
			}
		}
	}
	alt, err := r.alt(def.Value)
	if err != nil {
		return nil, err
	}
	return encode(map[string]any{"type": name, "doc": doc(def), "sources": sources, "definition": alt})
}

var typeLine = regexp.MustCompile(`(?m)^#Type: .* \| error\("`)

// widen gives role.cue with the own types in its closed set.
func widen(names []string) ([]byte, error) {
	raw, err := definitions.Definitions.ReadFile("role.cue")
	if err != nil || len(names) == 0 {
		return raw, err
	}
	at := typeLine.FindIndex(raw)
	if at == nil {
		return nil, fmt.Errorf("the definitions have no line #Type: … | error(")
	}
	var b bytes.Buffer
	end := at[1] - len(`error("`)
	b.Write(raw[:end])
	for _, n := range names {
		fmt.Fprintf(&b, "%q | ", n)
	}
	b.Write(raw[end:])
	return b.Bytes(), nil
}
