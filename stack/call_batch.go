package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/stack/release"
)

// BatchMax is how many messages a batch takes unless its handler says otherwise.
const BatchMax = 64

// Members is the messages of one batch. It stands right behind the Head in both kinds of batch.
type Members struct {
	first *Stack // chained by next
	n     int
	// the member whose reply the user's code is making; nil: none
	answering *Stack
}

// Batch is a batch in progress, as the runtime reads it: it doesn't depend on types.
type Batch struct {
	Stack
	members Members
}

// BatchOf returns s as the batch that it is.
func BatchOf(s *Stack) *Batch { return (*Batch)(unsafe.Pointer(s)) }

// Len returns the number of members.
func (b *Batch) Len() int { return b.members.n }

// First returns the first member.
func (b *Batch) First() *Stack { return b.members.first }

// After returns the member behind m; nil: there is none.
func (b *Batch) After(m *Stack) *Stack { return m.next }

// Ask notes that the user's code is called to make the reply of m, which Bytes then serves.
func (b *Batch) Ask(m *Stack) { b.members.answering = m }

// Answer ends m: with the reply that the caller has written or, unless it is nil, with err.
func (b *Batch) Answer(m *Stack, err error) {
	m.err = err
	m.close()
}

// Bytes is Stack.Bytes of the member whose reply is being made, see Ask. Otherwise it panics.
func (b *Batch) Bytes(n int) []byte {
	if b.members.answering == nil {
		panic("stack: bytes for the reply of a batch are taken outside ReturnEach")
	}
	return b.members.answering.Bytes(n)
}

// NewBatchNotice makes the handler of batches of at most max notices (0: BatchMax), each of a
// core.NoticeStack[Msg].
func NewBatchNotice[Msg any](first Entry, max int) *Handler {
	h := first.batched(classNotice, shapeOf((*told[Msg])(nil), clearing[told[Msg]]()), release.Values{releasesNotice[Msg]()}, max)
	describeMessages[Msg](h)
	return h
}

// NewBatchAsk makes the handler of batches of at most max asks (0: BatchMax), each of a
// core.AskStack[Req, Rep].
func NewBatchAsk[Req, Rep any](first Entry, max int) *Handler {
	v := valuesOf[Req, Rep]()
	h := first.batched(classAsk, shapeOf((*asked[Req, Rep])(nil), clearing[asked[Req, Rep]]()), v.releases(), max)
	h.ask = v.ask()
	return h
}

// batched makes the handler of the members, which are of class c; their batches begin at e.
func (e Entry) batched(c class, member shape, r release.Values, max int) *Handler {
	if max < 0 {
		panic("stack: a batch's maximum is negative")
	}
	if max == 0 {
		max = BatchMax
	}
	by := e.handler(classBatch, nil, nil)
	h := &Handler{class: c, counts: 1, first: e.step, actor: e.actor, batch: batchPart{by, max}}
	h.kind = h.newKind(member, r)
	return h
}
