package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// reader notes what it is told, in three ways: by a message of words, by one with a
// pointer, and by one whose stack has locals and so never goes by envelope.
type reader struct{ got []string }

type (
	line    struct{ S string }
	longTld struct {
		NoticeStack[words]
		local [3]int
	}
)

func (r *reader) words(s *NoticeStack[words]) Yield {
	r.got = append(r.got, fmt.Sprint(s.Msg.From, " ", s.Msg.N))
	return s.Return()
}

func (r *reader) line(s *NoticeStack[line]) Yield {
	r.got = append(r.got, s.Msg.S)
	return s.Return()
}

func (r *reader) long(s *longTld) Yield {
	s.local[0]++
	r.got = append(r.got, fmt.Sprint(s.Msg.From, " ", s.Msg.N))
	return s.Return()
}

func (r *reader) asked(s *AskStack[words, int]) Yield {
	r.got = append(r.got, fmt.Sprint(s.Req.From, " ", s.Req.N))
	return s.Return(0)
}

var (
	readWords = newNotice((*reader).words)
	readLine  = newNotice((*reader).line)
	readLong  = newNotice((*reader).long)
	readAsk   = newAsk((*reader).asked)
)

// tellFrom tells h in one of the ways, from a step of w.
func tellFrom(w *Engine, h *House, way, from, n int) {
	switch way {
	case 0:
		notify(w, h, readWords, words{from, n})
	case 1:
		notify(w, h, readLine, line{fmt.Sprint(from, " ", n)})
	default:
		c := w.Begin(readLong)
		*Message[words](c) = words{from, n}
		w.Push(h, c)
	}
}

// Steps and guests tell and ask houses of the same and of another worker, in all ways, in
// bursts. Each house gets each sender's messages in order, by envelope or not.
func TestEnvelopes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := newHand(t, 2)
		var readers []*reader
		var houses []*House
		for i := range 3 {
			readers = append(readers, &reader{})
			houses = append(houses, settleOn(h, i%2, readers[i]))
		}
		source := settleOn(h, 0, &writer{})
		want := make([][2][]string, 3) // of a house, by sender: 0 the writer, 1 the guest
		serial := 0
		note := func(from, to int) int {
			serial++
			want[to][from] = append(want[to][from], fmt.Sprint(from, " ", serial))
			return serial
		}
		var calls []*Call
		for range 40 {
			to, n := r.IntN(3), 1+r.IntN(40)
			switch r.IntN(4) {
			case 0: // a step of the writer
				way, often := r.IntN(3), 1+r.IntN(40)
				tell(h, source, writerWrite, func(w *Engine) {
					for range 3 * n {
						if r.IntN(often) == 0 {
							to, way = r.IntN(3), r.IntN(3)
						}
						tellFrom(w, houses[to], way, 0, note(0, to))
					}
				})
				h.turn(0) // so that the guest's orders are behind it in the books too
			case 1:
				for range n {
					Tell(&h.guests, houses[to], readWords, &words{1, note(1, to)})
				}
			case 2:
				Tell(&h.guests, houses[to], readLine, &line{fmt.Sprint("1 ", note(1, to))})
			case 3:
				c := h.guests.Call(houses[to], readAsk)
				*Request[words, int](c.Stack()) = words{1, note(1, to)}
				h.guests.Send(c)
				calls = append(calls, c)
			}
			if r.IntN(3) == 0 {
				h.turn(r.IntN(2))
			}
		}
		h.settle()
		for _, c := range calls {
			require.NoError(t, h.guests.Finish(c))
			h.guests.Done(c)
		}
		for i, reader := range readers {
			var got [2][]string
			for _, s := range reader.got {
				got[s[0]-'0'] = append(got[s[0]-'0'], s)
			}
			require.Equal(t, want[i], got, "seed %d, house %d", seed, i)
		}
		h.balance()
	}
}

// Guests of one stripe and of several add to envelopes while the worker closes them. Run with the
// race detector.
func TestEnvelopesBesideTheReceiver(t *testing.T) {
	const guests, each = 4, 20_000
	h := newHand(t, 1)
	k := &tallier{}
	house := settleOn(h, 0, k)
	var all sync.WaitGroup
	for g := range guests {
		all.Go(func() {
			for i := range each {
				Tell(&h.guests, house, tallierAdd, &words{g, i})
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		h.turn(0)
	}
	h.settle()
	for g := range guests {
		require.Equal(t, each, k.next[g])
	}
	require.Empty(t, k.wrong)
}

type tallier struct {
	next  [4]int
	wrong []words
}

func (k *tallier) add(s *NoticeStack[words]) Yield {
	if s.Msg.N != k.next[s.Msg.From] {
		k.wrong = append(k.wrong, s.Msg)
	}
	k.next[s.Msg.From]++
	return s.Return()
}

var tallierAdd = newNotice((*tallier).add)

// Messages in an envelope to a worker that has left are dropped, and the envelope comes home.
func TestEnvelopeForAWorkerThatLeft(t *testing.T) {
	h := newHand(t, 2)
	house := settleOn(h, 1, &reader{})
	source := settleOn(h, 0, &writer{})
	h.workers[1].Leave()
	tell(h, source, writerWrite, func(w *Engine) {
		for i := range 20 {
			tellFrom(w, house, i/10, 0, i)
		}
	})
	h.turn(0)
	for i := range 20 {
		Tell(&h.guests, house, readWords, &words{1, i})
	}
	// newHand's balance finds what is not home.
}

// faulty panics at every 50th number, throws at every 30th, and stops itself at 150.
type faulty struct{ told int }

func (f *faulty) add(s *NoticeStack[words]) Yield {
	if f.told++; s.Msg.N%50 == 49 {
		panic(s.Msg.N)
	}
	if s.Msg.N%30 == 29 {
		s.Bytes(10)
		return s.Throw(errors.New("on purpose"))
	}
	if s.Msg.N == 150 {
		s.House().Stop(s.Engine().Guests)
	}
	return s.Return()
}

var faultyAdd = newNotice((*faulty).add)

// Notices to a house of the same worker share envelopes too; a panic or a Throw ends only one.
func TestEnvelopesInALane(t *testing.T) {
	h := newHand(t, 1)
	f := &faulty{}
	to, from := settleOn(h, 0, f), settleOn(h, 0, &writer{})
	tell(h, from, writerWrite, func(w *Engine) {
		for i := range 200 {
			notify(w, to, faultyAdd, words{0, i})
		}
	})
	h.settle()
	require.Equal(t, 151, f.told, "the others are dead letters")
	require.Len(t, h.drivers[0].failed, 3+4)
	h.workers[0].Count.Publish()
	require.EqualValues(t, 49, h.workers[0].Count.Load(count.DeadLetter))
	for _, u := range h.workers[0].Shard.Usage() {
		require.LessOrEqual(t, u.Made, 4, u.Name)
	}
}

// gross is as long as a message in an envelope may be, and grosser is longer.
type (
	gross   [letterLong]byte
	grosser [letterLong + 1]byte
	glutton struct{ got []byte }
)

const letterLong = envelopeBytes / entryMin

func (g *glutton) gross(s *NoticeStack[gross]) Yield {
	g.got = append(g.got, s.Msg[0], s.Msg[letterLong-1])
	return s.Return()
}

func (g *glutton) grosser(s *NoticeStack[grosser]) Yield {
	g.got = append(g.got, s.Msg[0], s.Msg[letterLong])
	return s.Return()
}

var (
	gluttonGross   = newNotice((*glutton).gross)
	gluttonGrosser = newNotice((*glutton).grosser)
)

// An envelope takes as many messages as it has room for, and none that is too long.
func TestFullEnvelopes(t *testing.T) {
	require.Equal(t, entryMin, gluttonGross.bare.envelope.envelope.max)
	require.Equal(t, entryMid, readWords.bare.envelope.envelope.max)
	require.Nil(t, gluttonGrosser.bare.envelope)
	h := newHand(t, 2)
	from := settleOn(h, 0, &writer{})
	for worker := range 2 {
		r, g := &reader{}, &glutton{}
		words, grosses := settleOn(h, worker, r), settleOn(h, worker, g)
		var want []byte
		tell(h, from, writerWrite, func(w *Engine) {
			for i := range 300 {
				tellFrom(w, words, 0, 0, i)
			}
			for i := range byte(100) {
				m, n := gross{i, letterLong - 1: i + 1}, grosser{i, letterLong: i + 1}
				notify(w, grosses, gluttonGross, m)
				want = append(want, i, i+1)
				if i < 90 {
					continue
				}
				notify(w, grosses, gluttonGrosser, n)
				want = append(want, i, i+1)
			}
			for _, h := range []*House{words, grosses} {
				for s := h.calls.head; s != nil; s = s.next {
					require.True(t, s.by.envelope.opens == nil || int(envelopeOf(s).filled) <= s.by.envelope.max)
				}
			}
		})
		h.turn(0)
		full := 0
		for s := words.inbox.Load(); s != nil; s = s.next {
			if s.by.envelope.opens != nil {
				n := int(envelopeOf(s).word.Load() &^ envelopeClosed)
				require.LessOrEqual(t, n, entryMid)
				full += n / entryMid
			}
		}
		require.Equal(t, 4*worker, full)
		visits := h.workers[1].visits
		h.settle()
		if worker == 1 {
			require.Less(t, h.workers[1].visits-visits, uint64(2*420/32), "nobody adds to these: they don't rest")
		}
		require.Len(t, r.got, 300)
		require.Equal(t, want, g.got)
	}
}

// Mail that is drained so that it isn't overtaken is handled, even if its sender hasn't rung yet.
func TestTellBehindMailWithoutARing(t *testing.T) {
	h := newHand(t, 1)
	r := &reader{}
	to, w := settleOn(h, 0, r), h.workers[0]
	for i := range 3 {
		s := h.guests.Begin(to, readWords)
		*Message[words](s) = words{1, i}
		require.True(t, to.reserve())
		to.push(s, s)
	}
	notify(w, to, readWords, words{0, 0})
	h.turn(0)
	require.Equal(t, []string{"1 0", "1 1", "1 2", "0 0"}, r.got)
	to.ring()
	h.settle()
}

// answerer tells another actor something before it answers.
type answerer struct{ say func(w *Engine) }

func (a *answerer) ask(s *AskStack[words, int]) Yield {
	a.say(s.Engine())
	return s.Return(1)
}

func (a *answerer) meanwhile(s *NoticeStack[func()]) Yield {
	s.Msg()
	return s.Return()
}

var (
	answererAsk       = newAsk((*answerer).ask)
	answererMeanwhile = newNotice((*answerer).meanwhile)
)

// A notice that a guest sends after its answer comes behind a notice that the answering step sent.
func TestAnswerOfAGuestWaitsForTheOutbox(t *testing.T) {
	h := newHand(t, 2)
	x := &reader{}
	to := settleOn(h, 1, x)
	a := settleOn(h, 0, &answerer{func(w *Engine) {
		for i := range 3 {
			tellFrom(w, to, 2, 0, i)
		}
	}})
	c := h.guests.Call(a, answererAsk)
	h.guests.Send(c)
	tell(h, a, answererMeanwhile, func() {
		require.True(t, c.Ready())
		Tell(&h.guests, to, readWords, &words{9, 9})
	})
	h.settle()
	require.Equal(t, []string{"0 0", "0 1", "0 2", "9 9"}, x.got)
	require.NoError(t, h.guests.Finish(c))
	h.guests.Done(c)
}

// A notice that one guest has sent before another guest sends arrives first, in every way of both.
func TestG2GuestsOvertakeNobody(t *testing.T) {
	h := newHand(t, 1)
	x := &reader{}
	to := settleOn(h, 0, x)
	const guests, rounds = 8, 20
	turns := make([]chan int, guests)
	for i := range turns {
		turns[i] = make(chan int)
	}
	done := make(chan struct{})
	for i := range turns {
		go func() {
			for n := range turns[i] {
				for range 3 { // the third of a guest stands in an envelope
					Tell(&h.guests, to, readWords, &words{0, n})
					n++
				}
				if n == 3*guests*rounds {
					close(done)
					return
				}
				turns[(i+1)%guests] <- n
			}
		}()
	}
	turns[0] <- 0
	<-done
	for _, turn := range turns {
		close(turn)
	}
	h.settle()
	require.Len(t, x.got, 3*guests*rounds)
	for n, got := range x.got {
		require.Equal(t, fmt.Sprintf("0 %d", n), got)
	}
}

// quitter throws at its third message.
type quitter struct{ heard int }

func (q *quitter) hear(s *NoticeStack[words]) Yield {
	q.heard++
	if s.Msg.N == 2 {
		return s.Throw(errors.New("enough"))
	}
	return s.Return()
}

var quitterHear = newNotice((*quitter).hear)

// After the message that ended the actor those left in an envelope aren't handled, and are dead
// letters.
func TestActorStopsWithinAnEnvelope(t *testing.T) {
	for name, say := range map[string]func(h *hand, to *House, m words) error{
		"of guests":   func(h *hand, to *House, m words) error { return Tell(&h.guests, to, quitterHear, &m) },
		"in the lane": func(h *hand, to *House, m words) error { return notify(h.workers[0], to, quitterHear, m) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, 1)
			h.workers[0].Supervise = &supervision.Strategy{Decide: func(error) supervision.Directive { return supervision.Stop }}
			q := &quitter{}
			to := settleOn(h, 0, q)
			for n := range 9 {
				require.NoError(t, say(h, to, words{0, n}))
			}
			h.settle()
			require.True(t, to.Gone())
			require.Equal(t, 3, q.heard)
			require.EqualValues(t, 6, h.letters())
		})
	}
}

// heap writes down what it is told.
type heap struct {
	bytes []byte
	nums  []int
	pairs []words
	texts []string
}

func (a *heap) byte(s *NoticeStack[byte]) Yield { a.bytes = append(a.bytes, s.Msg); return s.Return() }
func (a *heap) num(s *NoticeStack[int]) Yield   { a.nums = append(a.nums, s.Msg); return s.Return() }
func (a *heap) pair(s *NoticeStack[words]) Yield {
	a.pairs = append(a.pairs, s.Msg)
	return s.Return()
}
func (a *heap) text(s *NoticeStack[string]) Yield {
	a.texts = append(a.texts, s.Msg)
	return s.Return()
}

var (
	heapByte = newNotice((*heap).byte)
	heapNum  = newNotice((*heap).num)
	heapPair = newNotice((*heap).pair)
	heapText = newNotice((*heap).text)
)

// Messages that wait long, from a goroutine, the actor's own worker or another one, arrive
// unchanged, however many envelopes they fill.
func TestEnvelopesOneBehindTheOther(t *testing.T) {
	const many = 5*entryMax + 7
	for from := range 3 { // a goroutine, its own worker, another one
		h := newHand(t, 2)
		a := &heap{}
		to, make := NewHouse(func() *heap { return a })
		to.Mailbox(MailboxRules{Max: -1})
		h.drivers[0].Register(to, make, h.workers[0])
		want := &heap{}
		all := func(w *Engine) {
			for n := range many {
				want.bytes = append(want.bytes, byte(n))
				sayFrom(t, h, w, to, heapByte, byte(n))
			}
			for n := range many {
				want.nums = append(want.nums, n)
				sayFrom(t, h, w, to, heapNum, n)
			}
			for n := range many {
				want.pairs = append(want.pairs, words{n, -n})
				sayFrom(t, h, w, to, heapPair, words{n, -n})
			}
			for n := range many {
				want.texts = append(want.texts, fmt.Sprint(n))
				sayFrom(t, h, w, to, heapText, fmt.Sprint(n))
			}
		}
		if from == 0 {
			all(nil)
		} else {
			require.NoError(t, tell(h, settleOn(h, from-1, &writer{}), writerWrite, all))
		}
		h.settle()
		require.Equal(t, want, a, "from %d", from)
	}
}

func sayFrom[M any](t *testing.T, h *hand, w *Engine, to *House, by *Handler, m M) {
	if w == nil {
		require.NoError(t, Tell(&h.guests, to, by, &m))
	} else {
		require.NoError(t, notify(w, to, by, m))
	}
}
