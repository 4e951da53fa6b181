package check

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
)

// A permit lets files use one thing that is refused elsewhere.
//
// A permit that nothing uses any more is a problem too, so that the list stays
// as long as the truth. One for a file that is still to be written says planned,
// and loses the word when the file is there.
type permit struct {
	files   string // a path, or a pattern in the sense of path.Match
	what    string // "time.Now", "go", "select", "linkname", or an import path
	why     string
	test    string // for unsafe: a test of the same folder that covers it
	planned bool
}

// permits are the seams: where the world outside enters.
var permits = slices.Concat(raw, []permit{
	{files: "netio/*_linux.go", what: "golang.org/x/sys", why: "the poller and the sockets are system calls"},
	{files: "netio/*_portable.go", what: "syscall", why: "the numbers of failures, which have the same names on every system"},
	{files: "netio/*_portable.go", what: "go", why: "package net blocks: goroutines behind each socket do"},
	{files: "house/httphost/serve.go", what: "go", why: "net/http has goroutines of its own; none of it is in a simulation", test: "TestServeFails"},
	{files: "house/httphost/serve.go", what: "select", why: "whatever comes first ends the server, and all the same", test: "TestServeEndsWithTheSystem"},
	{files: "netio/poller_portable.go", what: "select", why: "a wait ends by an event or when its time is up"},
	{files: "netio/poller_portable.go", what: "time.NewTimer", why: "a wait ends by an event or when its time is up"},
	{files: "netio/s*_portable.go", what: "time.Now", why: "package net takes deadlines as wall-clock time"},
	{files: "netio/stream_portable.go", what: "time.AfterFunc", why: "a peer that has ended its side is tried now and then"},
	{files: "house/thread_linux.go", what: "golang.org/x/sys", why: "names a worker's thread and binds it to a processor"},

	{files: "house/config.go", what: "time.Now", why: "the zero of the machine's clock"},
	{files: "house/config.go", what: "time.Since", why: "the machine's clock, which a virtual one replaces"},
	{files: "house/housetest/sim.go", what: "math/rand/v2", why: "the seeded source of a simulation"},
	{files: "house/housetest/network.go", what: "math/rand/v2", why: "the seeded source of a simulated network's faults"},
	{files: "house/housetest/network.go", what: "syscall", why: "the numbers of failures, which are those of the machine's network"},

	// Around a run of a simulation; nothing in it depends on them.
	{files: "house/housetest/attempt.go", what: "go", why: "a run that fails ends its goroutine, and not its test's"},
	{files: "house/housetest/attempt.go", what: "select", why: "a run ends, or it hangs"},
	{files: "house/housetest/attempt.go", what: "time.NewTimer", why: "a run ends, or it hangs"},
	{files: "house/housetest/simulate.go", what: "time.Now", why: "the search for a simpler plan ends when it has taken long"},

	{files: "house/system.go", what: "go", why: "a worker's loop is one goroutine on one thread"},
	{files: "house/loop.go", what: "go", why: "a worker whose goroutine a step has ended gets another"},
	{files: "house/shutdown.go", what: "go", why: "a shutdown that a step begins waits for the step's worker"},
	{files: "house/hooks.go", what: "go", why: "a hook of a shutdown that doesn't return is left behind"},
	{files: "house/runner.go", what: "go", why: "the bounded pools for functions that block"},
	{files: "house/jobcontext.go", what: "time.Now", why: "a context's deadline is wall-clock time; what is left of it is not"},

	// A handshake blocks; in simulations housetest.Secured stands for it.
	{files: "channel/secure/gate.go", what: "go", why: "a handshake of crypto/tls blocks"},
	{files: "channel/secure/gate.go", what: "time.Now", why: "who goes for others has waited for long, on no worker"},
	{files: "channel/secure/gate.go", what: "time.AfterFunc", why: "to look how long goroutines have waited"},
	{files: "channel/secure/handshake.go", what: "time.Now", why: "since when a goroutine waits"},
	{files: "cluster/config.go", what: "time.Now", why: "which of a node's lives is the later one, over restarts"},
	{files: "internal/certs/certs.go", what: "time.Now", why: "how long certificates are valid"},

	// Guests are goroutines of the user's: they may block, and no worker's decision depends on
	// them.
	{files: "house/shutdown.go", what: "select", why: "the caller of Shutdown waits, or its context ends"},
	{files: "internal/turns/crash.go", what: "go", why: "a panic that a guest must not recover, on a goroutine of its own"},
	{files: "stack/rendezvous/cell.go", what: "select", why: "a guest waits for its answer, or its context ends"},
	{files: "stack/rendezvous/cell.go", what: "time.NewTimer", why: "a guest's timeout: it has no worker to keep it"},
	{files: "stack/send_guest.go", what: "time.Until", why: "a context's deadline is wall-clock time; what is left of it is not"},
})

// raw are the files that use unsafe, each with the test that covers it.
var raw = []permit{
	{files: "internal/invariant/race_*.go", what: "unsafe", why: "hands addresses to the race detector", test: "TestAnnotations"},
	{files: "internal/move/move.go", what: "unsafe", why: "values of a type that is known at run time alone", test: "TestMove"},
	{files: "pool/object.go", what: "unsafe", why: "from the pooled part of a struct to the whole", test: "TestWriteAfterPut"},
	{files: "pool/bytes.go", what: "unsafe", why: "from a pooled object to the slab it begins; where in a slab a slice stands", test: "TestPart"},
	{files: "core/wire/codec.go", what: "unsafe", why: "values of a type that is known at run time alone", test: "TestTyped"},
	{files: "core/contract.go", what: "unsafe", why: "where in a call its message is, for who codes that by a type known at run time alone", test: "TestMethod"},
	{files: "cluster/track.go", what: "unsafe", why: "codes messages by types that are known at run time alone", test: "TestAskElsewhere"},
	{files: "core/wire/foreign.go", what: "unsafe", why: "values of a type that is known at run time alone", test: "TestForeign"},
	{files: "cluster/proto/codec.go", what: "unsafe", why: "from a pooled object to the message that it has", test: "TestReuse"},
	{files: "cluster/proto/flat.go", what: "unsafe", why: "from a generated struct to its fields", test: "FuzzFlat"},
	{files: "core/wire/run_*.go", what: "unsafe", why: "the fields of such values, by their offsets", test: "TestAgainstReflection"},
	{files: "future/promise.go", what: "unsafe", why: "from a node to the promise it begins", test: "TestPromiseOf"},
	{files: "future/table.go", what: "unsafe", why: "from a pooled object to the buckets it begins", test: "TestTableAgainstModel"},
	{files: "stack/call_ask.go", what: "unsafe", why: "from a stack to the request and the reply that its handler's type gives it", test: "TestLayouts"},
	{files: "stack/call_batch.go", what: "unsafe", why: "from a stack to the batch it begins", test: "TestBatchLayout"},
	{files: "stack/call_state.go", what: "unsafe", why: "the types of a step, which are compared", test: "TestInbound"},
	{files: "stack/call_inbound.go", what: "unsafe", why: "from a stack to what the channel has before it", test: "TestInbound"},
	{files: "stack/call_fan.go", what: "unsafe", why: "from a stack to what a fan has before it; a predicate without its types, which NewFan compares", test: "TestFanStack"},
	{files: "stack/call_envelope.go", what: "unsafe", why: "from a stack to the envelope that it begins", test: "TestEnvelopes"},
	{files: "stack/send_tell.go", what: "unsafe", why: "from an envelope to its messages", test: "TestEnvelopes"},
	{files: "stack/send_forward.go", what: "unsafe", why: "from a pooled object, or its house, to the relay it begins", test: "TestRelayLayout"},
	{files: "stack/life_quiet.go", what: "unsafe", why: "from a node of the wheel to the quiet that it begins", test: "TestQuietMoves"},
	{files: "stack/release/release.go", what: "unsafe", why: "where in an object a value is", test: "TestBefore"},
	{files: "stack/send_guest.go", what: "unsafe", why: "from a pooled object to the call it begins", test: "TestLayouts"},
	{files: "stack/call_handler.go", what: "unsafe", why: "where a stack lies in the user's struct; the type of its steps; a pointer in an interface of its type", test: "TestStackInTheMiddleOfStruct"},
	{files: "stack/house.go", what: "unsafe", why: "the actor as its steps take it; the first owner, stored without a fence", test: "TestHouseOfActor"},
	{files: "stack/call_middleware.go", what: "unsafe", why: "the user's struct as middleware takes it", test: "TestMiddlewareSeesTheUsersStruct"},
	{files: "stack/call_notice.go", what: "unsafe", why: "from a stack to the message that its handler's type gives it", test: "TestStackInTheMiddleOfStruct"},
	{files: "stack/call_offload.go", what: "unsafe", why: "from a stack to the job it begins", test: "TestJobLayout"},
	{files: "stack/send_offload.go", what: "unsafe", why: "from a stack to the job it begins", test: "TestJobLayout"},
	{files: "stack/call_owned.go", what: "unsafe", why: "the user's struct as its steps take it", test: "TestOwnedStack"},
	{files: "stack/call_stack.go", what: "unsafe", why: "from a pooled object to the stack it begins", test: "TestStackInTheMiddleOfStruct"},
	{files: "stack/call_suspend.go", what: "unsafe", why: "a step without its types, which are compared first", test: "TestInbound"},
	{files: "netio/poller_linux.go", what: "unsafe", why: "system calls take addresses", test: "TestCollectionDuringWait"},
	{files: "netio/socket_linux.go", what: "unsafe", why: "system calls take addresses", test: "TestWritevAgainstModel"},
}

// allows reports whether the permit covers the use of what in a file.
func (p permit) allows(file, what string) bool {
	ok, _ := path.Match(p.files, file)
	return ok && p.what == what
}

// judge checks the permit itself.
func (p permit) judge(t *tree, used bool) []string {
	var problems []string
	add := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("permit for %s in %s: ", p.what, p.files)+fmt.Sprintf(format, args...))
	}
	if _, err := path.Match(p.files, ""); err != nil {
		add("a pattern that can't match: %v", err)
	}
	switch {
	case !used && !p.planned:
		add("nothing uses it: strike it, or say planned")
	case used && p.planned:
		add("it is used: strike planned")
	}
	if p.why == "" {
		add("says no why")
	}
	if p.what == "unsafe" && p.test == "" {
		add("name the test that covers it")
	}
	if p.test != "" && !p.planned && !t.tests(path.Dir(p.files), p.test) {
		add("there is no %s in %s", p.test, path.Dir(p.files))
	}
	return problems
}

// tests reports whether a test function of this name stands in a room.
func (t *tree) tests(room, name string) bool {
	for _, s := range t.rooms[room] {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}
