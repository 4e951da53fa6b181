# Everything here works in a fresh clone with Go and make alone; e2e needs redis-tools too.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 60
BENCH       ?= .
BENCHCOUNT  ?= 1

# This module and the nested ones. A go.mod in testdata belongs to a test.
MODULES := $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/testdata/*' -not -path './.git/*' | sort))

# $(call each,command) runs a command in the folder of every module.
each = @for dir in $(MODULES); do (cd $$dir && echo "$$dir: $(1)" && $(1)) || exit 1; done

.DEFAULT_GOAL := help
.PHONY: help run build test invariants explore race vet lint fuzz e2e bench long ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the example server, a cache that speaks the Redis protocol
	@$(GO) build -o bin/kv ./examples/kv && exec bin/kv

build: ## compile all packages
	$(call each,$(GO) build ./...)

# No package needs more than seconds: one that still runs after four minutes hangs.
test: ## all tests, with the gates of internal/check
	$(call each,$(GO) test -timeout 4m ./...)

invariants: ## all tests with the costly checks
	$(call each,$(GO) test -tags invariants -timeout 4m ./...)

explore: ## all tests with the costly checks and the scheduling points
	$(call each,$(GO) test -tags invariants$(comma)explore -timeout 4m ./...)

race: ## all tests with the costly checks and the race detector
	$(call each,$(GO) test -race -tags invariants -timeout 8m ./...)

vet: ## go vet, in every build
	$(call each,$(GO) vet ./...)
	$(call each,$(GO) vet -tags invariants ./...)
	$(call each,$(GO) vet -tags invariants$(comma)explore ./...)

lint: vet ## gofmt, go vet and staticcheck
	@files=$$(gofmt -l .) && if [ -n "$$files" ]; then echo "not formatted by gofmt:"; echo "$$files"; exit 1; fi
	$(call each,$(GO) run $(STATICCHECK) ./...)

fuzz: ## every fuzz target; FUZZTIME seconds are shared by all
	GO="$(GO)" bash .ci/fuzz $(FUZZTIME)

e2e: ## the example server against redis-cli and redis-benchmark
	GO="$(GO)" bash .ci/e2e

bench: ## benchmarks that match BENCH, BENCHCOUNT times
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) -timeout 1h ./...

long: ## the tests that take minutes to hours, named Long
	STACKHOUSE_LONG=1 $(GO) test -run Long -count 1 -timeout 2h ./...

ci: ## what a submission must pass
	bash .ci/run

comma := ,
