package core_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// word is a message of a script.
type word struct{ text, does string }

func (w *word) key() string { key, _, _ := strings.Cut(w.text, "/"); return key }

// deeds are what a message says that is done with it; or it says that it is forwarded.
var deeds = []string{
	"",          // its actor handles it, and answers
	"waits",     // for a line that releases it, while others begin
	"bars",      // waits, behind a Barrier
	"stashes",   // is put back, the first time
	"unstashes", // what was put back
	"panics",
}

const forwards = "forwards-to-"

type (
	// toy is an actor of a script.
	toy struct {
		in   *theatre
		name string
	}
	toyLocals struct {
		gate  core.Future[struct{}]
		again bool
	}
	toyAsked struct {
		core.AskStack[word, string]
		toyLocals
	}
	toyTold struct {
		core.NoticeStack[word]
		toyLocals
	}
	toyActs struct {
		core.NoticeStack[func(*toyActs) core.Yield]
		answers [8]core.Future[string]
		done    func()
	}
)

var (
	toyAsk  = core.Handle((*toy).asked)
	toyTell = core.HandleNotice((*toy).told)
	toyAct  = core.HandleNotice(func(_ *toy, s *toyActs) core.Yield { return s.Msg(s) })
)

// begin does what a message says. It reports whether that waits, or is put back.
func (a *toy) begin(s core.Running, w word, l *toyLocals) (waits, stashed bool) {
	say := func(does string) { a.in.did(a.name, does, w.text) }
	switch w.does {
	case "waits", "bars":
		say("begins")
		if w.does == "bars" {
			s.(interface{ Barrier() }).Barrier()
		}
		housetest.Port[string, struct{}](a.in.probe).Ask(s, &l.gate, w.text)
		return true, false
	case "stashes":
		if !l.again {
			say("stashes")
			l.again = true
			return false, true
		}
	case "unstashes":
		core.Unstash(s)
	case "panics":
		say("panics at")
		panic(w.text)
	}
	say("handles")
	return false, false
}

func (a *toy) asked(s *toyAsked) core.Yield {
	if to, ok := strings.CutPrefix(s.Req.does, forwards); ok {
		a.in.note("%s forwards %s to %s", a.name, s.Req.text, to)
		return a.in.asks[to].Forward(s, word{text: s.Req.text})
	}
	switch waits, stashed := a.begin(s, s.Req, &s.toyLocals); {
	case waits:
		return core.Suspend(s, (*toy).answers)
	case stashed:
		return core.Stash(s)
	}
	return s.Return(a.name)
}

func (a *toy) answers(s *toyAsked) core.Yield {
	a.in.did(a.name, "ends", s.Req.text)
	return s.Return(a.name)
}

func (a *toy) told(s *toyTold) core.Yield {
	switch waits, stashed := a.begin(s, s.Msg, &s.toyLocals); {
	case waits:
		return core.Suspend(s, (*toy).ends)
	case stashed:
		return core.Stash(s)
	}
	return s.Return()
}

func (a *toy) ends(s *toyTold) core.Yield {
	a.in.did(a.name, "ends", s.Msg.text)
	return s.Return()
}

func (a *toy) acted(s *toyActs) core.Yield { s.done(); return s.Return() }

func isProp(s string) bool { return strings.ContainsAny(s, "=(") || s == "serial" || s == "restarts" }

func (p *theatre) props(args []string) (props core.Props) {
	for _, arg := range args {
		var n int
		name, value, _ := strings.Cut(strings.TrimRight(arg, ")"), "(")
		number, full, _ := strings.Cut(value, ",")
		fmt.Sscan(number, &n)
		if d, ok := strings.CutPrefix(arg, "Idle="); ok {
			props.Passivate.Idle, _ = time.ParseDuration(d)
			continue
		}
		switch name {
		case "serial":
			props.Serial = true
		case "restarts":
			props.OnFailure = &core.Strategy{}
		case "Bounded":
			props.Mailbox = core.Bounded(n, map[string]core.WhenFull{"Reject": core.Reject, "DropNewest": core.DropNewest, "DropOldest": core.DropOldest}[full])
		case "ByPriority": // urgent ones first
			urgent := func(w *word) int {
				if strings.HasPrefix(w.text, "urgent") {
					return 0
				}
				return 1
			}
			props.Mailbox = core.ByPriority(n, toyAsk.Class(urgent), toyTell.Class(urgent))
		case "FairBySender":
			props.Mailbox = core.FairBySender(n)
		case "Ordered": // by the alphabet
			props.Mailbox = core.Ordered(n, func() core.Order { return &alphabet{} })
		default:
			p.t.Fatalf("a script has an actor with %q", arg)
		}
	}
	return props
}

// alphabet is an Order.
type alphabet struct{ waiting []core.Waiting }

func (o *alphabet) Put(m core.Waiting) { o.waiting = append(o.waiting, m) }
func (o *alphabet) Len() int           { return len(o.waiting) }

func (o *alphabet) Take() core.Waiting {
	text := func(m core.Waiting) string {
		if w, ok := toyAsk.Request(m); ok {
			return w.text
		}
		w, _ := toyTell.Message(m)
		return w.text
	}
	first := 0
	for i, m := range o.waiting {
		if text(m) < text(o.waiting[first]) {
			first = i
		}
	}
	m := o.waiting[first]
	o.waiting = append(o.waiting[:first], o.waiting[first+1:]...)
	return m
}
