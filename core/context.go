package core

import (
	"context"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/tracing"
)

// This file is what an ask brings along beside its request: a trace, and pairs of names and values.
// Whatever an ask's steps ask brings the same along, also to other nodes, as it has the same
// deadline. A step that sets anything sets it for what its stack asks from then on. Notices bring
// nothing along; nor does a batch see what its asks bring. Their steps set it for what they ask.

// Trace says to which trace an ask belongs, as of W3C Trace Context. The zero Trace is none.
type Trace = tracing.Trace

// ParseTrace reads the value of a traceparent header. The error is ErrTrace.
func ParseTrace(text string) (Trace, error) { return tracing.ParseTrace(text) }

var (
	// ErrTrace: a text is no traceparent.
	ErrTrace = tracing.ErrTrace
	// ErrPairTooLong: the pairs of a stack would take more than PairsMax bytes, or a name has none, or
	// more than 255.
	ErrPairTooLong = tracing.ErrTooLong
)

// PairsMax is how many bytes all pairs of a stack may take: names, values, and three for each.
const PairsMax = tracing.PairsMax

// TraceOf returns the trace that s brings along. Steps and middleware may call it.
//
//alloc:none
func TraceOf(s Running) Trace { return stack.Of(s).Context().Text().Trace() }

// SetTrace has s bring t along from now on. Steps and middleware may call it.
//
//alloc:none
func SetTrace(s Running, t Trace) {
	st := stack.Of(s)
	st.SetContext(st.Context().WithTrace(&st.Engine().Shard, t))
}

// PairOf returns the value of a name that s brings along, valid until the next SetTrace or SetPair
// of s, or its end; nil: there is none. Steps and middleware may call it.
//
//alloc:none
func PairOf(s Running, name string) []byte { return stack.Of(s).Context().Text().Pair(name) }

// SetPair has s bring a value along from now on, under a name; an empty one takes the name away.
// The error is ErrPairTooLong; nothing has changed then. Steps and middleware may call it.
//
//alloc:none
func SetPair(s Running, name, value string) error {
	st := stack.Of(s)
	c, err := st.Context().WithPair(&st.Engine().Shard, name, value)
	if err == nil {
		st.SetContext(c)
	}
	return err
}

// broughtKey is the key of the tracing.Text in a context.Context.
type broughtKey struct{}

// WithTrace returns a context whose asks, by Ask and AskInto, bring t along.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, broughtKey{}, tracing.Text(brought(ctx).AppendTrace(nil, t)))
}

// WithPair returns a context whose asks bring a value along, see SetPair. The error is
// ErrPairTooLong; the context is ctx then.
func WithPair(ctx context.Context, name, value string) (context.Context, error) {
	t := brought(ctx)
	if _, err := t.SizeWith(name, value); err != nil {
		return ctx, err
	}
	return context.WithValue(ctx, broughtKey{}, tracing.Text(t.AppendPair(nil, name, value))), nil
}

// brought returns what the asks of a context bring along.
func brought(ctx context.Context) tracing.Text {
	t, _ := ctx.Value(broughtKey{}).(tracing.Text)
	return t
}

// brings has a guest's ask bring along what its context says.
func (b *begun) brings(ctx context.Context) {
	if t := brought(ctx); len(t) > 0 {
		b.call.Stack().SetContext(tracing.Of(&b.guests.Pools, t))
	}
}
