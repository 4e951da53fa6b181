package core_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	scripts "github.com/stackhouse-go/stackhouse/internal/script"
)

// TestScripts plays what testdata tells of routers and of mailboxes. A line does something; then
// all runs until it rests, and below the line is what came of it: who handled what in which order,
// then what was answered, and what the system tells of itself. The lines:
//
//	workers N                    of the system, before all else; otherwise 1
//	actor NAME... [PROP...]      PROP: serial, restarts, Idle=TIME, or a mailbox: Bounded(2,Reject)
//	group NAME ACTOR...          join NAME ACTOR..., leave NAME ACTOR...
//	replicas NAME                an actor on each worker
//	named NAME [Max=N] [PROP...] an actor for each name
//	router NAME KIND OF          KIND: RoundRobin, ByKey, ..., OF: a group, replicas or named
//	ask TO MESSAGE...            by a goroutine, all at once
//	tell TO MESSAGE...
//	ACTOR asks TO MESSAGE...     by an actor, in one step
//	ACTOR tells TO MESSAGE...
//	release MESSAGE...           that waits
//	wait TIME
//	stop, drain, pause, continue ACTOR
//
// A MESSAGE is a text, and behind a colon what the actor does with it, if not answer with its name:
// see deeds. Its key, or name, is what stands before a slash.
//
// All of it holds whether messages are traced or go the shorter ways.
func TestScripts(t *testing.T) {
	for name, system := range map[string]simulated{"traced": housetest.New, "untraced": housetest.Untraced} {
		for _, folder := range []string{"routers", "mailboxes"} {
			t.Run(folder+" "+name, func(t *testing.T) {
				scripts.Files(t, "testdata/"+folder+"/*.txt", func(t *testing.T) func(string) string {
					p := newTheatre(t, system)
					t.Cleanup(p.close)
					return p.play
				})
			})
		}
	}
}

type simulated func(t testing.TB, seed uint64, c house.Config) *housetest.Sim

// theatre is where a script is played.
type theatre struct {
	t       *testing.T
	system  simulated
	workers int
	sim     *housetest.Sim // nil: no line was played

	// By their names.
	toys   map[string]core.Address[toy]
	asks   map[string]core.Port[word, string]
	tells  map[string]core.NoticePort[word]
	all    map[string]core.Port[word, core.Answers[string]]
	groups map[string]core.Members[toy]
	named  map[string]core.Named[toy]
	names  map[core.AnyAddress]string
	held   map[string]*housetest.Asked[string, struct{}] // by messages that wait

	lines []string
	open  []asked          // without an answer yet
	probe *housetest.Probe // asked by messages that wait, and told of events
}

// asked is an ask of a goroutine.
type asked struct {
	text  string
	ready func() bool
	get   func() string
}

func newTheatre(t *testing.T, system simulated) *theatre {
	return &theatre{t: t, system: system, workers: 1,
		toys: map[string]core.Address[toy]{}, asks: map[string]core.Port[word, string]{}, tells: map[string]core.NoticePort[word]{},
		all: map[string]core.Port[word, core.Answers[string]]{}, groups: map[string]core.Members[toy]{}, named: map[string]core.Named[toy]{},
		names: map[core.AnyAddress]string{}, held: map[string]*housetest.Asked[string, struct{}]{}}
}

// close fails the test if an ask has no answer yet, which a reader would miss.
func (p *theatre) close() {
	for _, o := range p.open {
		p.t.Errorf("%s has no answer when the script ends", o.text)
		if p.sim.Run(time.Minute); o.ready() {
			o.get()
		}
	}
}

func (p *theatre) note(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// did notes what an actor does, behind what it just did alike.
func (p *theatre) did(who, does, what string) {
	start := who + " " + does
	if last := len(p.lines) - 1; last >= 0 && strings.HasPrefix(p.lines[last], start+" ") {
		p.lines[last] += " " + what
	} else {
		p.note("%s %s", start, what)
	}
}

// play does what a line says, and returns what comes of it.
func (p *theatre) play(line string) string {
	f := strings.Fields(line)
	require.Greater(p.t, len(f), 1, line)
	if f[0] == "workers" {
		require.Nil(p.t, p.sim, line)
		_, err := fmt.Sscan(f[1], &p.workers)
		require.NoError(p.t, err, line)
		return ""
	}
	p.begin()
	if _, ok := p.toys[f[0]]; ok {
		p.actor(f[0], f[1], f[2], p.messages(f[3:]))
	} else {
		p.do(line, f[0], f[1], f[2:])
	}
	p.sim.Rest()
	return p.cameOf()
}

// begin makes the system.
func (p *theatre) begin() {
	if p.sim != nil {
		return
	}
	p.sim = p.system(p.t, 1, house.Config{Workers: p.workers, Supervise: resumes, Logger: quiet})
	p.probe = housetest.NewProbe(p.t, p.sim)
	core.Events[core.OpenedLetter](p.sim).Subscribe(housetest.NoticePort[core.OpenedLetter](p.probe))
	core.Events[core.ActorStopped](p.sim).Subscribe(housetest.NoticePort[core.ActorStopped](p.probe))
	core.Events[core.ActorRestarted](p.sim).Subscribe(housetest.NoticePort[core.ActorRestarted](p.probe))
}

func (p *theatre) do(line, verb, name string, args []string) {
	switch verb {
	case "actor":
		names := []string{name}
		for len(args) > 0 && !isProp(args[0]) {
			names, args = append(names, args[0]), args[1:]
		}
		for _, n := range names {
			a, err := core.SpawnWith(p.sim, p.factory(n), p.props(args))
			require.NoError(p.t, err)
			p.settle(n, a)
		}
	case "group":
		p.groups[name] = &core.Group[toy]{}
		p.do(line, "join", name, args)
	case "join", "leave":
		g := p.groups[name].(*core.Group[toy])
		for _, a := range args {
			if verb == "join" {
				g.Join(p.toys[a])
			} else {
				g.Leave(p.toys[a])
			}
		}
	case "replicas":
		n := 0
		r := core.Replicate(p.sim, func() *toy { n++; return &toy{p, fmt.Sprint(name, n)} })
		p.groups[name] = r
		for i := range r.Len() {
			p.settle(fmt.Sprint(name, i+1), r.At(i))
		}
	case "named":
		c := core.NamedConfig[toy]{Kind: name, New: func(of string) *toy { p.note("%s is made", of); return &toy{p, of} }}
		if s, ok := strings.CutPrefix(strings.Join(args, " "), "Max="); ok {
			_, err := fmt.Sscan(s, &c.Max)
			require.NoError(p.t, err, line)
			args = args[1:]
		}
		c.Props = p.props(args)
		p.named[name] = core.NewNamed(p.sim, c)
	case "router":
		p.router(name, args[0], args[1])
	case "ask":
		p.ask(name, p.messages(args))
	case "tell":
		for _, w := range p.messages(args) {
			if err := core.Notice(p.tells[name], w); err != nil {
				p.note("%s is refused: %s", w.text, why(err))
			}
		}
	case "release":
		for _, text := range append([]string{name}, args...) {
			require.Contains(p.t, p.held, text, line)
			p.held[text].Return(struct{}{})
		}
	case "wait":
		d, err := time.ParseDuration(name)
		require.NoError(p.t, err, line)
		p.sim.Run(d)
	default:
		does, ok := map[string]func(core.Address[toy]){
			"stop": core.Address[toy].Stop, "drain": core.Address[toy].Drain,
			"pause": core.Address[toy].Pause, "continue": core.Address[toy].Continue,
		}[verb]
		require.True(p.t, ok, line)
		does(p.toy(line, name))
		for _, n := range args {
			p.do(line, verb, n, nil)
		}
	}
}

// toy finds an actor, also one by name.
func (p *theatre) toy(line, name string) core.Address[toy] {
	for _, n := range p.named {
		if a, ok := n.Find(name); ok {
			return a
		}
	}
	require.Contains(p.t, p.toys, name, line)
	return p.toys[name]
}

func (p *theatre) factory(name string) func() *toy { return func() *toy { return &toy{p, name} } }

// settle notes who an actor is.
func (p *theatre) settle(name string, a core.Address[toy]) {
	p.toys[name], p.names[a.Any()] = a, name
	p.asks[name], p.tells[name] = toyAsk.At(a), toyTell.At(a)
}

// ask asks as a goroutine does.
func (p *theatre) ask(to string, all []word) {
	for _, w := range all {
		if port, ok := p.all[to]; ok {
			c := core.Begin(port, w)
			p.open = append(p.open, asked{w.text, c.Ready, func() (text string) {
				if err := c.GetInto(func(a *core.Answers[string]) { text = each(*a) }); err != nil {
					return why(err)
				}
				return text
			}})
			continue
		}
		require.Contains(p.t, p.asks, to)
		c := core.Begin(p.asks[to], w)
		p.open = append(p.open, asked{w.text, c.Ready, func() string { return result(c.Get()) }})
	}
}

// actor has an actor ask or tell, in one step.
func (p *theatre) actor(name, does, to string, all []word) {
	err := core.Notice(toyAct.At(p.toys[name]), func(s *toyActs) core.Yield {
		for i, w := range all {
			switch does {
			case "asks":
				p.asks[to].Ask(s, &s.answers[i], w)
			case "tells":
				if err := p.tells[to].Notice(s, w); err != nil {
					p.note("%s is refused: %s", w.text, why(err))
				}
			default:
				panic(does)
			}
		}
		s.done = func() {
			if does != "asks" {
				return
			}
			var answers []string
			for i, w := range all {
				answers = append(answers, w.text+" "+result(s.answers[i].Get()))
			}
			p.note("%s's answers: %s", name, strings.Join(answers, ", "))
		}
		return core.Suspend(s, (*toy).acted)
	})
	require.NoError(p.t, err)
}

func (p *theatre) router(name, kind, of string) {
	if kind == "ByName" {
		byName := func(w *word) string { return w.key() }
		p.asks[name] = core.ByName(toyAsk, p.named[of], byName)
		p.tells[name] = core.NoticeByName(toyTell, p.named[of], byName)
		return
	}
	m := p.groups[of]
	key := func(w *word) uint64 {
		h := fnv.New64a()
		h.Write([]byte(w.key()))
		return h.Sum64()
	}
	switch kind {
	case "RoundRobin":
		p.asks[name], p.tells[name] = toyAsk.RoundRobin(m), toyTell.RoundRobin(m)
	case "ByKey":
		p.asks[name], p.tells[name] = toyAsk.ByKey(m, key), toyTell.ByKey(m, key)
	case "LeastQueued":
		p.asks[name], p.tells[name] = toyAsk.LeastQueued(m), toyTell.LeastQueued(m)
	case "Local":
		r := m.(core.Replicas[toy])
		p.asks[name], p.tells[name] = toyAsk.Local(r), toyTell.Local(r)
	case "Broadcast":
		p.all[name], p.tells[name] = core.Broadcast(toyAsk, m), toyTell.Broadcast(m)
	case "First":
		p.asks[name] = core.First(toyAsk, m)
	default:
		p.t.Fatalf("a script has the router %s", kind)
	}
}

// messages reads them.
func (p *theatre) messages(args []string) (all []word) {
	for _, arg := range args {
		var w word
		w.text, w.does, _ = strings.Cut(arg, ":")
		require.True(p.t, slices.Contains(deeds, w.does) || strings.HasPrefix(w.does, forwards), arg)
		all = append(all, w)
	}
	return all
}

// cameOf returns what has happened since.
func (p *theatre) cameOf() string {
	for _, a := range housetest.Take[*housetest.Asked[string, struct{}]](p.probe) {
		p.held[a.Req] = a
	}
	var open []asked
	var answers []string
	for _, o := range p.open {
		if o.ready() {
			answers = append(answers, o.text+" "+o.get())
		} else {
			open = append(open, o)
		}
	}
	p.open = open
	if len(answers) > 0 {
		p.note("answers: %s", strings.Join(answers, ", "))
	}
	for _, l := range housetest.Take[core.OpenedLetter](p.probe) {
		if w, ok := l.Message.(word); ok {
			p.note("dead letter: %s to %s: %v", w.text, p.name(l.To), l.Reason)
		}
	}
	for _, e := range housetest.Take[core.ActorRestarted](p.probe) {
		p.note("%s restarted", p.name(e.Actor))
	}
	for _, e := range housetest.Take[core.ActorStopped](p.probe) {
		p.note("%s stopped", p.name(e.Actor))
	}
	lines := p.lines
	p.lines = nil
	return strings.Join(lines, "\n")
}

func (p *theatre) name(a core.AnyAddress) string {
	if name, ok := p.names[a]; ok {
		return name
	}
	if to, ok := core.As[toy](a); ok {
		_, name, _ := strings.Cut(to.Path().String(), ".")
		return name
	}
	return "nobody"
}

func result(from string, err error) string {
	if err != nil {
		return why(err)
	}
	return "from " + from
}

// why says why there is no answer. What panics in a script says so.
func why(err error) string {
	if errors.Is(err, core.ErrPanic) {
		return "it panicked"
	}
	return strings.TrimPrefix(err.Error(), "stackhouse: ")
}

func each(a core.Answers[string]) string {
	var all []string
	for from, err := range a.All() {
		all = append(all, result(from, err))
	}
	return "(" + strings.Join(all, ", ") + ")"
}
