# Everything here works in a fresh clone with Go and make alone; e2e needs redis-tools, openssl, curl and nodejs,
# differ and long need redis-server 7.0, proof and long need postgresql, or apt to install it.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 60
BENCH       ?= .
BENCHCOUNT  ?= 1
OVERLOAD    ?= 15
# The other systems for which all is checked: each and each processor once, as that takes minutes; make long does all.
SYSTEMS     ?= darwin/arm64 windows/amd64

# This module, then the nested ones. A go.mod in testdata belongs to a test.
MODULES := . $(patsubst %/go.mod,%,$(shell find ./*/ -name go.mod -not -path '*/testdata/*' | sort))

# $(call each,command,but) runs a command in the folder of every module, but of those that are named.
each = @for dir in $(filter-out $(2),$(MODULES)); do (cd $$dir && echo "$$dir: $(1)" && $(1)) || exit 1; done

.DEFAULT_GOAL := help
.PHONY: help run build test invariants explore race portable cross vet lint fuzz e2e differ reservations proof overload \
	bench compare long ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the example server, a cache that speaks the Redis protocol
	@$(GO) build -o bin/kv ./examples/kv && exec bin/kv

build: ## compile all packages
	$(call each,$(GO) build ./...)

# Programs of tests are linked once and run once: without what debuggers read that takes half the time.
LINK := -ldflags=-w

# The slowest package needs two minutes, and four where all is slow: one that still runs after six
# hangs.
test: ## all tests, with the gates of internal/check; go vet's are lint's
	$(call each,$(GO) test -vet=off $(LINK) -timeout 6m ./...)

invariants: ## all tests with the costly checks
	$(call each,$(GO) test $(LINK) -tags invariants -timeout 6m ./...)

explore: ## the tests of what has scheduling points, with them and the costly checks, and every order at them
	$(GO) test $(LINK) -tags invariants$(comma)explore -skip '^TestExplore$$' -timeout 8m ./internal/explore/... ./pool ./stack
	$(GO) test $(LINK) -tags invariants$(comma)explore -run '^TestExplore$$' -v -timeout 8m ./pool ./stack ./house

# What tests count with the race detector isn't what users have: those that count alone are left out.
MEASURES := Allocates?Nothing|NoMallocs|NoFreshMemory|IdleActorBytes|IdleConnections

race: ## all tests but the gates, those of bench/compare and MEASURES, with the costly checks and the race detector
	$(call each,$(GO) test -race $(LINK) -tags invariants -skip '$(MEASURES)' -timeout 8m $$($(GO) list ./... | grep -v /internal/check),./bench/compare)

portable: ## the tests of what meets the network, over the poller that other systems have; simulations have their own
	$(GO) vet -tags portable ./netio ./house/... ./channel/... ./cluster ./examples/kv ./examples/journal ./examples/limiter ./examples/echo ./examples/chat ./examples/proxy ./examples/remote
	$(GO) test $(LINK) -tags portable -skip Simulat -timeout 6m ./netio ./house/... ./channel/... ./cluster ./examples/kv ./examples/journal ./examples/limiter ./examples/echo ./examples/chat ./examples/proxy ./examples/remote

cross: ## check all packages and tests for SYSTEMS, and link the example server
	@for on in $(SYSTEMS); do \
		export CGO_ENABLED=0 GOOS=$${on%/*} GOARCH=$${on#*/} && echo "$$on" && \
		$(GO) vet ./... && $(GO) build -o /dev/null ./examples/kv || exit 1; \
	done

vet: ## go vet, with the costly checks and without
	$(call each,$(GO) vet ./...)
	$(GO) vet -tags invariants$(comma)explore ./...

lint: vet ## gofmt, go vet and staticcheck
	@files=$$(gofmt -l .) && if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi
	$(call each,$(GO) run $(STATICCHECK) ./...)

fuzz: ## every fuzz target; FUZZTIME seconds are shared by all
	GO="$(GO)" bash .ci/fuzz $(FUZZTIME)

e2e: ## the example servers against redis-cli and redis-benchmark; over TLS against openssl, curl and Node, too
	GO="$(GO)" bash .ci/e2e
	GO="$(GO)" bash .ci/tls

differ: ## the example server against redis-server 7.0, reply by reply
	GO="$(GO)" bash .ci/differ

reservations: ## the reservation service under its own load, on bbolt or STORE: requests per write, latencies
	GO="$(GO)" bash .ci/reservations load

proof: ## the reservation service saturated, killed KILLS times, and without its store, on bbolt and PostgreSQL
	GO="$(GO)" bash .ci/reservations

overload: ## a server with 128 MiB under twice its load, for OVERLOAD seconds
	GO="$(GO)" bash .ci/overload $(OVERLOAD)

bench: ## benchmarks that match BENCH, BENCHCOUNT times
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) -timeout 1h ./...

compare: ## against channels, a mutex, protoactor-go, Erlang and Redis, links against protoactor's and TCP, and echo against a bare epoll loop in C; takes minutes
	@cd bench/compare && code=0; $(GO) run . -check || code=1; $(GO) run ./remote -check || code=1; \
	if [ -d redis ]; then $(GO) run ./redis || code=1; fi; exit $$code
	$(GO) run ./bench/echo

long: ## what takes minutes to hours: the tests named Long, the explorer at 3 preemptions, AddressSanitizer and checkptr (with gcc or clang), known vulnerabilities, five million commands of differ, 200 kills, two minutes of overload
	$(MAKE) cross SYSTEMS="darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
	STACKHOUSE_LONG=1 $(GO) test -run Long -count 1 -timeout 2h ./...
	STACKHOUSE_LONG=1 $(GO) test -tags invariants$(comma)explore -run 'ExploreLong' -v -count 1 -timeout 2h ./pool ./stack ./house
	$(GO) test -asan -timeout 30m ./pool ./stack ./channel/...
	GO="$(GO)" bash .ci/vulnerable
	GO="$(GO)" DIFFER_COMMANDS=5000000 bash .ci/differ
	GO="$(GO)" KILLS=200 bash .ci/reservations
	GO="$(GO)" bash .ci/overload 120

ci: ## what a submission must pass; installs redis-server 7.0, postgresql and clients by apt where they are missing, which takes root
	@echo "make ci: installs redis-tools, redis-server, postgresql, openssl, curl and nodejs by apt, if they are missing"
	bash .ci/run

comma := ,
