# Every target is one line, and needs nothing but Go, make and git; ring3 and bench name what else they need.

GO         ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODULES     = engine plugins cue tools cmd/gyrum
# Everything but the tests that need more than Go, which run one package at a time and print what they skip.
PACKAGES    = ./engine/... ./plugins/... ./cue/... ./cmd/gyrum/... $(shell $(GO) list ./tools/... | grep -vE '/tests/(bench|catalogs|editor|envfile|realhost|ring3)$$')
ALL         = $(addprefix ./,$(addsuffix /...,$(MODULES)))
FUZZTIME   ?= 10s
export CGO_ENABLED = 0

.PHONY: build man plugins test authoring ring3 soak bench check fmt vet static tidy generated reproducible lint clean-tree fuzz mutants quickstart

# The program, at bin/gyrum.
build: plugins ; $(GO) build -trimpath -buildvcs=false -o bin/gyrum ./cmd/gyrum

# The plugins' modules, in plugins/dist.
plugins: ; $(GO) run ./tools/pluginbuild

# Everything that can be tested on this machine; says in one line what cannot.
test: build ; $(GO) test $(PACKAGES) && $(MAKE) --no-print-directory authoring ring3

# What the authors of catalogs use beside gyrum: the cue command, pre-commit, a YAML language server that npm installs once. GYRUM_REQUIRE_PRE_COMMIT=1 and GYRUM_REQUIRE_EDITOR=1 make their absence a failure.
authoring: build ; for d in catalogs editor; do (cd tools/tests/$$d && $(GO) test -count=1) || exit 1; done

# The tests on real hosts. They need root and the packages systemd-container and debootstrap; GYRUM_REQUIRE_RING3=1 makes their absence a failure.
ring3: build ; for d in realhost envfile ring3; do (cd tools/tests/$$d && $(GO) test -count=1 -timeout 30m) || exit 1; done

# Kills real applies, and the hosts under them, at random moments; the tests above do five rounds of it.
ROUNDS ?= 50
soak: build ; cd tools/tests/ring3 && GYRUM_SOAK_ROUNDS=$(ROUNDS) $(GO) test -count=1 -v -timeout 4h -run '^TestSoak$$'

# Side by side with cf-agent, on a real host.
bench: build ; $(GO) run ./tools/tests/bench

# What a change must pass besides the tests.
check: fmt vet static tidy generated reproducible lint clean-tree

# Sources are formatted.
fmt: ; @out=$$(gofmt -l $(MODULES)) && test -z "$$out" || { echo "$$out"; echo 'run gofmt -w on these files'; exit 1; }

# go vet, also of what is built for the sandbox.
vet: ; $(GO) vet $(ALL) && GOOS=wasip1 GOARCH=wasm $(GO) vet ./plugins/guest/... ./plugins/*/observe ./plugins/*/apply

# staticcheck, pinned.
static: ; $(STATICCHECK) $(ALL)

# Every module stands on its own, without the workspace, and requires what it uses.
tidy: ; for m in $(MODULES); do (cd $$m && GOWORK=off $(GO) mod tidy -diff && GOWORK=off $(GO) build ./...) || exit 1; done

# What is generated from the CUE definitions and from the program's own words is up to date.
generated: ; $(GO) run ./tools/schemagen -check && $(GO) run ./tools/typedocs -check && $(GO) test -run Reference ./cmd/gyrum

# The man pages, in bin/man.
man: build ; bin/gyrum man bin/man

# The modules have the committed digests, whatever folder they are built in.
reproducible: ; $(GO) run ./tools/pluginbuild -fresh -check && d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && git archive HEAD | tar x -C "$$d" && cd "$$d" && $(GO) run ./tools/pluginbuild -check

# The catalogs here are well written, and every resource type is whole: plugin, modules, definition, schema, record, page.
lint: ; $(GO) run ./tools/lint && $(GO) run ./tools/lint examples

# Nothing above changed or made a file that git would see.
clean-tree: ; @test -z "$$(git status --porcelain | tee /dev/stderr)" || { echo 'the work tree is not clean'; exit 1; }

# Every fuzz target for a short time.
fuzz: ; $(GO) run ./tools/fuzz -time $(FUZZTIME) $(ALL)

# Flips each comparison that decides for a resource type, one at a time, and shows that some case then fails; takes minutes.
mutants: ; $(GO) run ./tools/mutants

# A safe first run: a read-only check of the example roles against this very machine.
quickstart: build ; @bin/gyrum check --catalog . --host example; status=$$?; test $$status -le 2
