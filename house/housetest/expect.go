package housetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// Expect takes the next message of p, which must be a Msg and come within that time: a notice, as
// the port of its type takes it. Expect[any] takes whatever comes; asks are a *Asked then.
func Expect[Msg any](p *Probe, within time.Duration) Msg {
	p.t.Helper()
	return seek(p, within, kind[Msg](), func(Msg) bool { return true }, false)
}

// ExpectEqual is Expect of a message that is want.
func ExpectEqual[Msg comparable](p *Probe, within time.Duration, want Msg) {
	p.t.Helper()
	seek(p, within, describe(want), func(m Msg) bool { return m == want }, false)
}

// ExpectAsk is Expect of an ask, which the test answers then or later.
func ExpectAsk[Req, Rep any](p *Probe, within time.Duration) *Asked[Req, Rep] {
	p.t.Helper()
	return Expect[*Asked[Req, Rep]](p, within)
}

// ExpectTerminated is Expect of the Terminated of target, which p watches.
func ExpectTerminated[A any](p *Probe, within time.Duration, target core.Address[A]) {
	p.t.Helper()
	ExpectEqual(p, within, core.Terminated{Actor: target.Any()})
}

// ExpectNone waits for that time, in which no message must come; nor must one have come before that
// the test hasn't taken.
func (p *Probe) ExpectNone(within time.Duration) {
	p.t.Helper()
	next, done := p.within(within)
	defer done()
	if m, ok := next(); ok {
		p.fail("want nothing within %v, got %s", within, describe(m))
	}
}

// SkipTo takes messages of p up to a Msg for which is reports true, and returns that. It must come
// within that time; those before it are dropped.
func SkipTo[Msg any](p *Probe, within time.Duration, is func(Msg) bool) Msg {
	p.t.Helper()
	return seek(p, within, kind[Msg]()+" as sought", is, true)
}

// Take takes all messages of a type that have come, in order, and leaves the others. It doesn't
// wait, nor run turns.
func Take[Msg any](p *Probe) (all []Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came = slices.DeleteFunc(p.came, func(m any) bool {
		msg, is := m.(Msg)
		if is {
			all = append(all, msg)
		}
		return is
	})
	return all
}

// seek takes the next message, or, if it skips, messages up to one that fits.
func seek[Msg any](p *Probe, within time.Duration, want string, is func(Msg) bool, skips bool) (msg Msg) {
	p.t.Helper()
	next, done := p.within(within)
	defer done()
	var got []string
	for {
		m, ok := next()
		if !ok {
			got = append(got, fmt.Sprintf("nothing within %v", within))
			break
		}
		if msg, ok = m.(Msg); ok && is(msg) {
			return msg
		}
		if got = append(got, describe(m)); !skips {
			break
		}
	}
	p.fail("want %s, got %s", want, strings.Join(got, ", then "))
	return msg
}

// fail ends the test.
func (p *Probe) fail(format string, args ...any) {
	p.t.Helper()
	text := fmt.Sprintf(format, args...)
	if p.sim != nil {
		text = fmt.Sprintf("seed %d: %s", p.sim.Seed, text)
	}
	p.t.Fatal(text)
}

// typeOf returns the name of a type as programs write it.
func typeOf[M any]() string { return reflect.TypeFor[M]().String() }

// kind says what messages of a type are.
func kind[Msg any]() string {
	var none Msg
	if a, ok := any(none).(interface{ kind() string }); ok {
		return a.kind()
	}
	return "a notice of " + typeOf[Msg]()
}

func describe(m any) string {
	if a, ok := m.(interface{ describe() string }); ok {
		return a.describe()
	}
	return fmt.Sprintf("a notice of %T: %+v", m, m)
}
