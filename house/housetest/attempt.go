package housetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// attempt is the testing.TB of one run that may fail without its test failing. Its FailNow ends the
// goroutine of the run, and its cleanups run there behind it. What isn't overridden is the test's.
type attempt struct {
	testing.TB
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed at the end of the run

	mu       sync.Mutex
	failed   bool
	skipped  bool
	said     bytes.Buffer // what was logged, and why it failed
	cleanups []func()     // run from the last to the first
}

// saidMax is how many bytes an attempt says: a broken run may say the same for ever.
const saidMax = 64 << 10

// try calls run with an attempt in a goroutine of its own, for limit at most; longer means that it
// has failed, and hangs. It returns what was said if it failed.
func try(t testing.TB, limit time.Duration, run func(testing.TB)) (said string, failed bool) {
	a := &attempt{TB: t, done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	go a.do(func() { run(a) })
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-a.done:
	case <-late.C:
		stacks := make([]byte, saidMax)
		a.fail(fmt.Sprintf("it still runs after %v\n%s", limit, stacks[:runtime.Stack(stacks, true)]))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.String(), a.failed
}

func (a *attempt) do(run func()) {
	defer close(a.done)
	defer a.cleanUp()
	defer a.caught()
	run()
}

// cleanUp runs the cleanups, whatever becomes of each.
func (a *attempt) cleanUp() {
	a.cancel()
	a.mu.Lock()
	last := len(a.cleanups) - 1
	if last < 0 {
		a.mu.Unlock()
		return
	}
	f := a.cleanups[last]
	a.cleanups = a.cleanups[:last]
	a.mu.Unlock()
	defer a.cleanUp()
	defer a.caught()
	f()
}

// caught makes a failure of a panic.
func (a *attempt) caught() {
	if p := recover(); p != nil {
		a.fail(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
	}
}

func (a *attempt) say(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.said.Len() < saidMax {
		a.said.WriteString(what)
		a.said.WriteByte('\n')
	}
}

func (a *attempt) fail(why string) {
	a.say(why)
	a.Fail()
}

// at returns the place of whoever calls a method of the attempt.
func at() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d: ", path.Base(file), line)
}

func (a *attempt) Helper()                           {}
func (a *attempt) Context() context.Context          { return a.ctx }
func (a *attempt) Output() io.Writer                 { return output{a} }
func (a *attempt) Log(args ...any)                   { a.say(at() + fmt.Sprint(args...)) }
func (a *attempt) Logf(format string, args ...any)   { a.say(at() + fmt.Sprintf(format, args...)) }
func (a *attempt) Error(args ...any)                 { a.fail(at() + fmt.Sprint(args...)) }
func (a *attempt) Errorf(format string, args ...any) { a.fail(at() + fmt.Sprintf(format, args...)) }

func (a *attempt) Fatal(args ...any) {
	a.fail(at() + fmt.Sprint(args...))
	runtime.Goexit()
}

func (a *attempt) Fatalf(format string, args ...any) {
	a.fail(at() + fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (a *attempt) FailNow() {
	a.Fail()
	runtime.Goexit()
}

func (a *attempt) Fail() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = true
}

func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

func (a *attempt) Skip(...any)          { a.SkipNow() }
func (a *attempt) Skipf(string, ...any) { a.SkipNow() }

func (a *attempt) SkipNow() {
	a.mu.Lock()
	a.skipped = true
	a.mu.Unlock()
	runtime.Goexit()
}

func (a *attempt) Skipped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.skipped
}

func (a *attempt) Cleanup(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cleanups = append(a.cleanups, f)
}

// output is the log of an attempt as a writer of lines.
type output struct{ a *attempt }

func (o output) Write(b []byte) (int, error) {
	o.a.say(string(bytes.TrimSuffix(b, []byte("\n"))))
	return len(b), nil
}
