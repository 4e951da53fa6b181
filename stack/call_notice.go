package stack

import (
	"reflect"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/stack/release"
)

// told is how a notice is laid out, as core.NoticeStack is.
type told[Msg any] struct {
	Head
	Msg Msg
}

// NewNotice makes the handler of notices whose first step is first, of a core.NoticeStack[Msg].
func NewNotice[Msg any](first Entry, around ...Middleware) *Handler {
	h := first.handler(classNotice, around, release.Values{releasesNotice[Msg]()})
	describeMessages[Msg](h)
	if len(around) == 0 && h.notice.box != nil && first.shape.size() == unsafe.Sizeof(told[Msg]{}) {
		h.bare.is = true
		if move.HasPointers(reflect.TypeFor[Msg]()) {
			h.bare.wipe = func(s *Stack) { clear(unsafe.Slice(Message[Msg](s), 1)) }
		}
		h.bare.envelope = newEnvelope[Msg](h)
	}
	return h
}

func releasesNotice[Msg any]() release.Value {
	return release.At(unsafe.Offsetof(told[Msg]{}.Msg), (*Msg)(nil))
}

// describeMessages fills in the noticePart of h.
func describeMessages[Msg any](h *Handler) {
	h.notice.message, h.notice.letters = reflect.TypeFor[Msg](), tellsOfLetters[Msg]()
	if !releasesNotice[Msg]().Is() {
		h.notice.box = func(m unsafe.Pointer) any { return *(*Msg)(m) }
	}
}

// open returns a copy of a notice's message; nil if messages of its type have a Release.
func (h *Handler) open(message unsafe.Pointer) any {
	if h.notice.box == nil {
		return nil
	}
	return h.notice.box(message)
}

// checkBare panics if fields of s were written that blank doesn't clear.
func (s *Stack) checkBare() {
	blank := Stack{Object: s.Object, by: s.by, to: s.to, sent: s.sent, state: s.state}
	if *(*[unsafe.Sizeof(blank)]byte)(unsafe.Pointer(s)) != *(*[unsafe.Sizeof(blank)]byte)(unsafe.Pointer(&blank)) {
		panic("stack: a notice left more behind than its message: " + s.by.Name())
	}
}

// Place returns the i-th of the messages that House.Join returned. Of the result of Engine.Tell,
// a single message, i is 0.
func Place[Msg any](messages unsafe.Pointer, i uint32) *Msg {
	var probe Msg
	return (*Msg)(unsafe.Add(messages, uintptr(i)*unsafe.Sizeof(probe)))
}

// Message returns the message in c, whose handler NewNotice[Msg] made.
func Message[Msg any](c *Stack) *Msg { return &(*told[Msg])(unsafe.Pointer(c)).Msg }

// tellsOfLetters reports whether Msg is an event that tells of a dead letter. If such a notice is
// lost itself, no event tells of it: its subscriber can't keep up, and would be sent one more.
func tellsOfLetters[Msg any]() bool {
	switch any((*Msg)(nil)).(type) {
	case *DeadLetter, *OpenedLetter:
		return true
	}
	return false
}
