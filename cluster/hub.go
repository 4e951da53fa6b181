package cluster

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// hub is the actor that has a node's links. All of its state belongs to its worker.
type hub struct {
	node     *Node
	methods  *catalogue
	w        *stack.Engine
	at       *stack.House
	listener channel.Listener
	links    map[string]*link
	linksMax int
	counts   forgotten
	served   table
	replies  replies
	retries  retries
	over     bool // it has stopped
	scratch  scratch
	broods   map[string][]*stack.House     // what another node has spawned; some have stopped
	nobodies map[reflect.Type]*stack.House // that have stopped, of each type
	watched  map[*stack.House][]*ref       // actors whose end other nodes wait for

	overflows map[*stack.House]*overflow // of actors with full mailboxes
	spare     []*overflow
}

func newHub(n *Node, methods *catalogue) *hub {
	h := &hub{node: n, linksMax: linksMax, methods: methods, links: map[string]*link{}, watched: map[*stack.House][]*ref{},
		replies: newReplies(), served: table{actors: map[uint64]*stack.House{}}, nobodies: map[reflect.Type]*stack.House{}, broods: map[string][]*stack.House{},
		overflows: map[*stack.House]*overflow{}, scratch: scratch{frame: make([]byte, 0, frame.FrameMax), budget: n.config.Budget}}
	for name, address := range n.config.Peers {
		h.links[name] = newLink(h, name, address)
	}
	return h
}

// PreStart implements core.Starter.
func (h *hub) PreStart(s *core.HookStack) core.Yield {
	st := stack.Of(s)
	h.w, h.at = st.Engine(), st.House()
	h.at.Stay() // connections and stand-ins belong to a worker
	for _, l := range h.all() {
		l.begin()
	}
	return s.Return()
}

// all returns the links in one order, whatever the map's is: simulations repeat it.
func (h *hub) all() []*link {
	return slices.SortedFunc(maps.Values(h.links), func(a, b *link) int { return strings.Compare(a.name, b.name) })
}

// linksMax is how many other nodes a node knows at most.
const linksMax = 4096

// linkTo returns the link to a node, which may have been unknown; nil: too many are known.
func (h *hub) linkTo(name string) *link {
	l := h.links[name]
	if l == nil && (len(h.links) < h.linksMax || h.forget()) {
		l = newLink(h, name, "")
		l.begin()
		h.links[name] = l
	}
	return l
}

// forget forgets the node that has been away for longest, with its session, of those that have
// neither an address nor a connection, and for whom nothing waits.
func (h *hub) forget() bool {
	var of *link
	for _, l := range h.links {
		if l.isIdle() && (of == nil || l.leftAt < of.leftAt || l.leftAt == of.leftAt && l.name < of.name) {
			of = l
		}
	}
	if of == nil {
		return false
	}
	delete(h.links, of.name)
	of.giveUp(ErrUnreachable)
	h.counts.keep(of.name, counts{of.Peer().Incarnation, of.wrote, of.got})
	return true
}

// PostStop implements core.Stopper.
func (h *hub) PostStop(s *core.HookStack) core.Yield {
	for _, l := range h.all() {
		l.giveUp(ErrUnreachable)
	}
	h.loseOverflows()
	h.loseRetries()
	return s.Return()
}

// nothing is what connections ask for: frames are done where they are decoded.
type nothing struct{}

// wiring is what all connections have in common.
func (h *hub) wiring(address string, codec func() channel.Codec[nothing, pull]) channel.Config[nothing, pull] {
	return channel.Config[nothing, pull]{
		Network: "tcp", Address: address, Codec: codec, TLS: h.node.config.TLS,
		IdleTimeout: -1, // links have their own
		OutputMax:   outputMax, ReadSize: 64 << 10,
	}
}

// outputMax is from how many bytes on a connection takes no more for the time being: what a link
// keeps is in its stream.
const outputMax = 64 << 10

// carry is the handler of connections. It never runs: frames ask for no step.
func (h *hub) carry(s *core.ChannelStack[nothing, pull]) core.Yield { return s.Return(pull{}) }

var hubCarry = channel.Handle((*hub).carry)

type listenStep struct {
	core.AskStack[struct{}, struct{}]
	bound core.Future[channel.Listener]
}

func (h *hub) listen(s *listenStep) core.Yield {
	at := h.node.config.Listen
	if at == "" {
		return s.Return(struct{}{})
	}
	channel.Bind(s, &s.bound, h.wiring(at, func() channel.Codec[nothing, pull] { return newConn(h, nil) }), hubCarry)
	return core.Suspend(s, (*hub).listens)
}

func (h *hub) listens(s *listenStep) (y core.Yield) {
	var err error
	if h.listener, err = s.bound.Get(); err != nil {
		return s.Throw(err)
	}
	return s.Return(struct{}{})
}

// dial is what a dialer has the hub do.
type dial struct {
	by   *dialer
	conn uint64 // its number, once it stands
}

type dialStep struct {
	core.NoticeStack[dial]
	conn core.Future[core.Peer[pull]]
}

func (h *hub) dial(s *dialStep) core.Yield {
	s.Msg.by.dials(s, &s.conn)
	return core.Suspend(s, (*hub).dialled)
}

func (h *hub) dialled(s *dialStep) core.Yield {
	_, err := s.conn.Get()
	s.Msg.by.dialled(s.Msg.conn, err)
	return s.Return()
}

// flushTime is how long a node that closes waits for others to say that they have read all, ns.
const flushTime = int64(time.Second)

type flushStep struct {
	core.AskStack[struct{}, struct{}]
	tick  core.Future[core.Tick]
	until int64
}

// flush waits until all that was written to nodes that are there is acknowledged: what isn't would
// be dead letters, though it came.
func (h *hub) flush(s *flushStep) core.Yield {
	s.until = h.w.Now + flushTime
	return h.flushes(s)
}

func (h *hub) flushes(s *flushStep) core.Yield {
	waits := false
	for _, l := range h.all() {
		for _, t := range l.tracks {
			if !t.isUnread() {
				continue
			}
			if waits = true; t.conn != nil {
				t.conn.pings = true // again: what asks may overtake what is to be read
				t.conn.send()
			}
		}
	}
	if waits && h.w.Now < s.until {
		core.Timer.Ask(s, &s.tick, time.Millisecond)
		return core.Suspend(s, (*hub).flushes)
	}
	return s.Return(struct{}{})
}

type findStep struct {
	core.AskStack[Where, core.AnyAddress]
	found core.Future[core.AnyAddress]
}

// find has the hub of the other node look an actor up.
func (h *hub) find(s *findStep) core.Yield {
	l := h.links[s.Req.Node]
	if l == nil {
		return s.Throw(ErrNoNode)
	}
	findMethod.At(l.control().hub().any()).Ask(s, &s.found, findActor{s.Req.Path})
	return core.Suspend(s, (*hub).finds)
}

func (h *hub) finds(s *findStep) core.Yield { return there(&s.AskStack, &s.found) }

// there returns an actor of another node to whoever asks for it.
func there[Req any](s *core.AskStack[Req, core.AnyAddress], f *core.Future[core.AnyAddress]) core.Yield {
	a, err := f.Get()
	if err != nil {
		return s.Throw(err)
	}
	switch at, _ := a.Any(); {
	case at == nil:
		return s.Throw(core.ErrNotFound)
	case at.Loss() != nil: // since then
		return s.Throw(at.Loss())
	case at.Gone():
		return s.Throw(core.ErrNotFound)
	}
	return s.Return(a)
}

type findActor struct{ Path string }

var findMethod = core.NewMethod[findActor, core.AnyAddress]("stackhouse.cluster.find")

// seek finds an actor of this node for another one.
func (h *hub) seek(s *core.AskStack[findActor, core.AnyAddress]) core.Yield {
	at := h.sought(s.Req.Path)
	if at == nil {
		return s.Throw(core.ErrNotFound)
	}
	return s.Return(at.Any(at.Kind()))
}

// sought returns the actor of this node at a path, as others may know it; nil: there is none.
func (h *hub) sought(path string) *stack.House {
	p, err := core.ParsePath(path)
	if err != nil {
		return nil
	}
	at := h.node.system.Find(p)
	if at == nil || at == h.at || at.Gone() {
		return nil
	}
	return at
}

// helloTime is how long who has dialled may take to say HELLO, once TLS is done.
const helloTime = 2 * time.Second

type greetStep struct {
	core.NoticeStack[*conn]
	tick core.Future[core.Tick]
}

// greet closes an accepted connection if it says no HELLO.
func (h *hub) greet(s *greetStep) core.Yield {
	core.Timer.Ask(s, &s.tick, helloTime)
	return core.Suspend(s, (*hub).greeted)
}

func (h *hub) greeted(s *greetStep) core.Yield {
	if !s.Msg.met {
		s.Msg.shut()
	}
	return s.Return()
}

// alarm is when a link looks at the clock.
type alarm struct {
	link *link
	at   int64
}

type alarmStep struct {
	core.NoticeStack[alarm]
	tick core.Future[core.Tick]
}

func (h *hub) alarm(s *alarmStep) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Duration(max(0, s.Msg.at-h.w.Now)))
	return core.Suspend(s, (*hub).alarmed)
}

func (h *hub) alarmed(s *alarmStep) core.Yield {
	s.Msg.link.rings(s.Msg.at)
	return s.Return()
}

// watch has the hub watch an actor for other nodes, or not any more. It is a step, as only these
// may watch.
func (h *hub) watch(s *core.NoticeStack[*stack.House]) core.Yield {
	if st, to := stack.Of(s), s.Msg; len(h.watched[to]) > 0 {
		st.Watch(to, on.gone.Machine(), func(notice *stack.Stack, gone core.AnyAddress) {
			*stack.Message[core.AnyAddress](notice) = gone
		})
	} else {
		st.Unwatch(to, on.gone.Machine())
	}
	return s.Return()
}

// gone hears that an actor has ended that other nodes watch.
func (h *hub) gone(s *core.NoticeStack[core.AnyAddress]) core.Yield {
	house, _ := s.Msg.Any()
	all := h.watched[house]
	delete(h.watched, house)
	for _, r := range all {
		r.ended()
	}
	return s.Return()
}

var (
	hubListen = core.Handle((*hub).listen)
	hubFlush  = core.Handle((*hub).flush)
	hubFind   = core.Handle((*hub).find)
	_         = core.Handle((*hub).seek).As(findMethod)
)

// on are the handlers of what the hub tells itself. They are made in init, as they refer to what
// refers to them.
var on struct {
	dial  core.NoticeHandler[hub, dial]
	alarm core.NoticeHandler[hub, alarm]
	greet core.NoticeHandler[hub, *conn]
	watch core.NoticeHandler[hub, *stack.House]
	gone  core.NoticeHandler[hub, core.AnyAddress]
	room  core.NoticeHandler[hub, *overflow]
	sweep core.NoticeHandler[hub, struct{}]
	try   core.NoticeHandler[hub, *retry]
}

func init() {
	on.dial = core.HandleNotice((*hub).dial)
	on.alarm = core.HandleNotice((*hub).alarm)
	on.greet = core.HandleNotice((*hub).greet)
	on.watch = core.HandleNotice((*hub).watch)
	on.gone = core.HandleNotice((*hub).gone)
	on.room = core.HandleNotice((*hub).room)
	on.sweep = core.HandleNotice((*hub).sweep)
	on.try = core.HandleNotice((*hub).try)
	for _, by := range []*stack.Handler{on.dial.Machine(), on.alarm.Machine(), on.greet.Machine(), on.watch.Machine(),
		on.gone.Machine(), on.room.Machine(), on.sweep.Machine(), on.try.Machine()} {
		by.Private = true
	}
}

// tell sends a notice of the hub's to itself.
func tell[Msg any](h *hub, by core.NoticeHandler[hub, Msg], msg Msg) {
	s := h.w.Begin(by.Machine())
	*stack.Message[Msg](s) = msg
	h.w.Push(h.at, s)
}
