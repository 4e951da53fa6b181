package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms is the policy of this module: a package imports lower floors only, and
// rooms on one floor never import each other.
//
// DO NOT CHANGE THIS TABLE TO MAKE A BUILD PASS. An arrow is a design decision.
const rooms = `
floor 0
	internal/certs               # for trying things out; tests have them too
	internal/copied
	internal/explore             # tests drive the code by it: no arrow leads here
	internal/invariant
	internal/move                # values of a type known at run time alone
	internal/script              # plays what tests have in testdata: no arrow leads here
	internal/self
	internal/stat
	house/latency                # for users too: it knows no house
	channel/sent                 # a client's requests that have no reply

floor 1
	internal/turns -> internal/self
	pool           -> internal/invariant, internal/stat, internal/self
	stack/command                               # what an actor is told about its life
	cluster/frame                               # bytes between two nodes
	stack/count
	stack/deferred                              # to the end of a turn
	stack/ear
	stack/fault
	stack/flags                                 # of a house
	stack/giveup                                # whether the asker of a call has given up
	stack/lost     -> internal/invariant
	stack/pace                                  # when a worker reads the clock
	stack/path
	stack/quota                                 # of actors of one kind
	stack/siblings                              # a list of children
	stack/turn     -> internal/invariant        # who runs a worker's turns

floor 2
	future            -> pool
	netio             -> pool
	cluster/session   -> cluster/frame, pool # what outlives a connection
	channel/stage     -> pool                # what bytes pass between a socket and a codec
	stack/away        -> stack/command       # how calls leave the process
	stack/idleness    -> stack/pace          # when no call of an actor has begun
	stack/lifecycle   -> stack/fault
	stack/supervision -> stack/fault
	stack/order       -> pool          # in which a mailbox gives its calls
	stack/release     -> pool, internal/move   # what messages hold
	stack/tracing     -> pool          # what asks bring along
	stack/rendezvous  -> stack/fault, internal/invariant   # where a goroutine waits for an answer

floor 3
	stack       -> future, internal/copied, internal/move, internal/turns, stack/away, stack/command, stack/count, stack/deferred, stack/ear, stack/flags, stack/giveup, stack/idleness, stack/lifecycle, stack/lost, stack/order, stack/pace, stack/path, stack/quota, stack/release, stack/rendezvous, stack/siblings, stack/supervision, stack/tracing, stack/turn
	house/wheel -> future        # time is an argument; only house drives it
	channel/secure -> channel/stage, pool    # TLS
	core/wire   -> pool, internal/move       # what a message is between two nodes

floor 4
	core  -> stack               # what an actor says
	house -> stack, netio, house/latency, house/wheel    # where it runs
	cluster/proto -> core/wire, pool    # messages of protocol buffers

floor 5
	channel -> core, netio, channel/sent, channel/stage, channel/secure

	# Codecs are pure: bytes in, bytes out.
	channel/frame -> pool        # bytes in frames, of whatever protocol
	channel/resp  -> pool
	planned channel/http1        -> pool

floor 6
	cluster         -> channel, house, core/wire, cluster/frame, cluster/session       # links, views, entities
	house/housetest -> core, house, channel, netio
	planned channel/web    -> channel, channel/http1   # HTTP and WebSocket
	house/httphost  -> core, house   # net/http beside a system

floor 7
	planned cluster/gossip      -> cluster  # who is a member: memberlist behind an interface of cluster
	cluster/clustertest         -> cluster, house/housetest     # nodes in one simulation, for users too
	planned house/inspect       -> core, house

floor 8
	bench          -> anything
	bench/echo     -> anything   # beside a bare loop around epoll
	bench/overload -> anything   # a server and its load, two processes
	bench/strain -> anything     # clients of a cache, a process of its own, that it loads
	examples/... -> anything
	examples/certs -> internal/certs
	internal/check               # these tests
	internal/check/instances -> core, channel/resp   # of generic functions, for the compiler to speak of
	internal/explore/planted     # bugs that the explorer must find

nobody imports floor 8

# An actor does not know where it runs, nor a house what actors say; and a
# channel belongs to an actor, not to a house.
core        !-> house
house       !-> core
channel/... !-> house
`

// A module is an outside dependency and those who may import it.
type module struct {
	path    string
	rooms   []string // may import it; none: tests only
	instead string   // what everyone else does
}

// modules is the policy for outside modules. One that is not listed is refused,
// also in tests: every user of the runtime carries it. What has a large tree of
// its own lives in a nested module.
var modules = []module{
	{"golang.org/x/sys", []string{"netio", "house"}, "ask netio (sockets, polling) or house (threads) for a function that does it"},
	{"google.golang.org/protobuf", []string{"cluster/proto"}, "let cluster/proto encode the message"},
	{"github.com/hashicorp/memberlist", []string{"cluster/gossip"}, "ask cluster who is a member"},
	{"github.com/klauspost/compress", []string{"cluster"}, "have cluster compress what is long"},
	{"github.com/valyala/bytebufferpool", []string{"house", "house/inspect", "cluster/gossip", "examples/..."}, "use pool.Bytes, or a scratch field"},
	{"github.com/stretchr/testify", nil, "only tests assert; return an error or panic"},
	{"go.uber.org/goleak", nil, "only tests look for leaks"},
}

// helper is what in-package tests of all floors may import besides lower floors.
const helper = "house/housetest"

func TestFloors(t *testing.T) {
	p, err := parse(rooms)
	if err != nil {
		t.Fatal(err)
	}
	report(t, floors(ours(t), p, modules))
}

// floors is the gate: it judges every import of every file, and the policy by the packages found.
func floors(t *tree, p *policy, outside []module) []string {
	var problems []string
	inner := 0
	for _, s := range t.sources {
		r := p.of(s.room)
		if r == nil {
			continue // reported once, by coverage
		}
		for _, imp := range s.file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			why := ""
			if to, ok := t.inside(name); ok {
				inner++
				why = p.refuse(s, r, to)
			} else if strings.Contains(strings.Split(name, "/")[0], ".") || name == "C" {
				why = refuseOutside(s, name, outside)
			}
			if why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s imports %s: %s", t.at(imp), s.room, name, why))
			}
		}
	}
	if inner == 0 {
		problems = append(problems, "floors: no file imports a package of this module: is this the right folder?")
	}
	return append(problems, coverage(t, p)...)
}

// refuse says why a file of a room may not import another room; "" if it may.
func (p *policy) refuse(s *source, r *room, to string) string {
	low := p.of(to)
	switch {
	case low == nil:
		return fmt.Sprintf("no such room in the policy; %s", addLine)
	case to == s.room && s.outer:
		return ""
	case low.floor == p.closed && r == low && strings.HasPrefix(to, s.room+"/"):
		return "" // a folder below one's own
	case low.floor == p.closed:
		return fmt.Sprintf("nobody imports floor %d; move what you need to a lower floor", p.closed)
	case s.outer || slices.Contains(r.reach, low.pattern):
		return ""
	case s.test && (low.floor < r.floor || low.pattern == helper):
		return ""
	case low.floor < r.floor:
		return fmt.Sprintf("there is no arrow from %s to %s; it may import %s", r.pattern, low.pattern, list(r.reach))
	case s.test:
		return fmt.Sprintf("%s is on floor %d, not below %d; a test of package %s_test may import it", to, low.floor, r.floor, s.file.Name.Name)
	default:
		return fmt.Sprintf("%s is on floor %d, not below %d; declare the interface that you need here, or move what both need to a lower floor", to, low.floor, r.floor)
	}
}

// refuseOutside says why a file may not import a package of another module; "" if it may.
func refuseOutside(s *source, name string, outside []module) string {
	if name == "C" {
		return "no part of this module uses cgo"
	}
	for _, m := range outside {
		if !within(name, m.path+"/...") {
			continue
		}
		ok := s.outer || s.test && len(m.rooms) == 0
		for _, pattern := range m.rooms {
			ok = ok || within(s.room, pattern)
		}
		switch {
		case ok:
			return ""
		case len(m.rooms) == 0:
			return m.instead
		default:
			return fmt.Sprintf("only %s may; %s", list(m.rooms), m.instead)
		}
	}
	return "an outside module that the policy does not list; do without, or use it in a nested module"
}

const addLine = "choose its floor and add a line to rooms in internal/check/floors_test.go"

// coverage compares the lines of the policy with the packages that exist.
func coverage(t *tree, p *policy) []string {
	var problems []string
	built := map[*room]bool{}
	for pkg, sources := range t.rooms {
		r := p.of(pkg)
		if r == nil {
			problems = append(problems, fmt.Sprintf("%s: package %s is not in the policy; %s", sources[0].path, pkg, addLine))
		}
		built[r] = true
	}
	slices.Sort(problems)
	for _, r := range p.rooms {
		switch {
		case !built[r] && !r.planned:
			problems = append(problems, fmt.Sprintf("policy: %s is not there; strike its line or write \"planned\" before it", r.pattern))
		case built[r] && r.planned:
			problems = append(problems, fmt.Sprintf("policy: %s is built; strike the word \"planned\"", r.pattern))
		}
	}
	return problems
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
