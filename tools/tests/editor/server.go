// Package editor asks the YAML language server that editors use what it makes of a manifest with gyrum's schemas. It
// speaks the Language Server Protocol over the server's standard streams
// (microsoft.github.io/language-server-protocol) and knows nothing of gyrum.
package editor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// Server is a running language server with one folder open.
type Server struct {
	root     string
	schemas  map[string]string // path of a schema -> glob of the files that it judges
	cmd      *exec.Cmd
	in       io.WriteCloser
	mu       sync.Mutex
	last     int
	waiting  map[int]chan message
	findings map[string]chan []Diagnostic // by uri
	broken   error
	closed   chan struct{}
}

// Diagnostic is one complaint of the server.
type Diagnostic struct {
	Range struct {
		Start struct{ Line, Character int }
	}
	Message string
}

// Item is one completion.
type Item struct {
	Label         string
	InsertText    string
	Documentation Markup
}

// Markup is a string, or {kind, value}.
type Markup string

// UnmarshalJSON reads either form.
func (m *Markup) UnmarshalJSON(raw []byte) error {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		*m = Markup(plain)
		return nil
	}
	var marked struct{ Value string }
	err := json.Unmarshal(raw, &marked)
	*m = Markup(marked.Value)
	return err
}

// message is a JSON-RPC 2.0 request, answer or notification.
type message struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   json.RawMessage  `json:"error,omitempty"`
}

// Start starts a server for a folder; command is what runs it over standard streams. Without schemas the files must
// name theirs themselves.
func Start(root string, schemas map[string]string, command ...string) (*Server, error) {
	s := &Server{root: root, schemas: schemas, waiting: map[int]chan message{}, findings: map[string]chan []Diagnostic{}, closed: make(chan struct{})}
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.listen(bufio.NewReader(out))
	_, err = s.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + root,
		"workspaceFolders": []any{map[string]any{"uri": "file://" + root, "name": "catalog"}},
		"capabilities": map[string]any{
			"workspace":    map[string]any{"configuration": true},
			"textDocument": map[string]any{"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": true, "documentationFormat": []string{"markdown"}}}},
		},
	})
	if err == nil {
		err = s.send(message{Method: "initialized", Params: json.RawMessage("{}")})
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the server.
func (s *Server) Close() {
	s.in.Close()
	_ = s.cmd.Process.Kill()
	<-s.closed
	_ = s.cmd.Wait()
}

// Open shows the server a file, which need not exist, and gives its complaints.
func (s *Server) Open(name, text string) ([]Diagnostic, error) {
	uri := s.uri(name)
	found := make(chan []Diagnostic, 100)
	s.mu.Lock()
	s.findings[uri] = found
	s.mu.Unlock()
	err := s.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	if err != nil {
		return nil, err
	}
	var last []Diagnostic
	quiet := time.NewTimer(time.Minute)
	for {
		select {
		case last = <-found:
			// The server may judge once before it has its configuration and again with it.
			quiet.Reset(400 * time.Millisecond)
		case <-quiet.C:
			return last, nil
		case <-s.closed:
			return nil, fmt.Errorf("the language server has gone: %w", s.broken)
		}
	}
}

// Complete asks what can be written at a place; lines and characters count from 0.
func (s *Server) Complete(name string, line, character int) ([]Item, error) {
	raw, err := s.call("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": s.uri(name)}, "position": map[string]int{"line": line, "character": character}})
	if err != nil {
		return nil, err
	}
	var list struct{ Items []Item }
	return list.Items, json.Unmarshal(raw, &list)
}

// Hover asks what is said of a place.
func (s *Server) Hover(name string, line, character int) (string, error) {
	raw, err := s.call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": s.uri(name)}, "position": map[string]int{"line": line, "character": character}})
	if err != nil {
		return "", err
	}
	var hover struct{ Contents Markup }
	return string(hover.Contents), json.Unmarshal(raw, &hover)
}

func (s *Server) uri(name string) string { return "file://" + s.root + "/" + name }

func (s *Server) notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return s.send(message{Method: method, Params: raw})
}

func (s *Server) call(method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	s.mu.Lock()
	s.last++
	id := json.RawMessage(strconv.Itoa(s.last))
	s.waiting[s.last] = answer
	s.mu.Unlock()
	if err := s.send(message{ID: &id, Method: method, Params: raw}); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		return m.Result, nil
	case <-s.closed:
		return nil, fmt.Errorf("%s: the language server has gone: %w", method, s.broken)
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("%s: no answer within a minute", method)
	}
}

func (s *Server) send(m message) error {
	m.Version = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(raw), raw)
	return err
}

// listen deals with what the server says until it says no more.
func (s *Server) listen(r *bufio.Reader) {
	defer close(s.closed)
	for {
		m, err := receive(r)
		if err != nil {
			s.broken = err
			return
		}
		switch {
		case m.Method != "" && m.ID != nil:
			go func() { _ = s.send(message{ID: m.ID, Result: s.answer(m)}) }()
		case m.Method == "textDocument/publishDiagnostics":
			var p struct {
				URI         string
				Diagnostics []Diagnostic
			}
			if json.Unmarshal(m.Params, &p) == nil {
				s.mu.Lock()
				if c := s.findings[p.URI]; c != nil {
					c <- p.Diagnostics
				}
				s.mu.Unlock()
			}
		case m.ID != nil:
			id, _ := strconv.Atoi(string(*m.ID))
			s.mu.Lock()
			if c := s.waiting[id]; c != nil {
				c <- m
				delete(s.waiting, id)
			}
			s.mu.Unlock()
		}
	}
}

// answer is what the editor says when the server asks: its settings, as .vscode/settings.json would have them.
func (s *Server) answer(m message) json.RawMessage {
	if m.Method != "workspace/configuration" {
		return json.RawMessage("null")
	}
	var asked struct{ Items []struct{ Section string } }
	_ = json.Unmarshal(m.Params, &asked)
	out := make([]any, len(asked.Items))
	for i, item := range asked.Items {
		if item.Section == "yaml" {
			out[i] = map[string]any{"schemas": s.schemas, "schemaStore": map[string]any{"enable": false}, "completion": true, "hover": true, "validate": true}
		}
	}
	raw, _ := json.Marshal(out)
	return raw
}

// receive reads one message.
func receive(r *bufio.Reader) (message, error) {
	var m message
	head, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil || n > 64<<20 {
		return m, errors.New("a message without its length")
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}
