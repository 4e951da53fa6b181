package secure_test

import (
	"crypto/tls"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// hello is a ClientHello.
var hello = sync.OnceValue(func() []byte {
	c := newEnd("127.0.0.1:1", secure.New(&tls.Config{ServerName: "a.test"}).Client(""))
	defer c.Close(1)
	for len(c.down) == 0 {
		<-c.wakes
		c.Wake(1)
	}
	return c.sent()
})

// greeters opens n connections that stop behind their ClientHello, and returns when each of those
// that may run, and no other one does, has answered.
func greeters(t testing.TB, by *secure.TLS, from func(i int) string, n int) (all []*end) {
	before := by.Stats().Running
	for i := range n {
		all = append(all, greet(by, from(i)))
	}
	until(t, func() bool { return answered(all) >= by.Stats().Running-before })
	return all
}

// greet opens one.
func greet(by *secure.TLS, from string) *end {
	e := newEnd(from, by.Server())
	e.receives(hello(), 0)
	return e
}

// answered is how many have sent something, or failed.
func answered(all []*end) (n int) {
	for _, e := range all {
		select {
		case <-e.wakes:
			e.Wake(e.now)
		default:
		}
		if len(e.down) > 0 && e.Err() == nil {
			n++
		}
	}
	return n
}

func failed(all []*end) (n int) {
	answered(all)
	for _, e := range all {
		if e.Err() != nil {
			n++
		}
	}
	return n
}

func until(t testing.TB, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ready(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("never came")
		}
	}
}

func closeAll(all []*end) {
	for _, e := range all {
		e.Close(1)
	}
}

func one(int) string       { return "10.0.0.1:1" }
func each(i int) string    { return fmt.Sprintf("10.0.%d.%d:1", i/200, 1+i%200) }
func eachOf6(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", 1+i) }

func server(t *testing.T) *secure.TLS { return serverWith(t, time.Hour) }

// serverWith is server whose handshakes may wait for so long though others want their goroutines.
func serverWith(t *testing.T, patience time.Duration) *secure.TLS {
	ca := newCA(t)
	return secure.NewWith(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool()}, secure.Limits{Patience: patience})
}

// served has a client from an address go through its handshake, and returns how long that takes.
func served(t *testing.T, by *secure.TLS, from string) time.Duration {
	begin := time.Now()
	c, s := newEnd("127.0.0.1:1", by.Client("a.test")), newEnd(from, by.Server())
	meet(t, c, s, 0)
	require.NoError(t, s.Err())
	require.NoError(t, c.Err())
	c.Close(1)
	s.Close(1)
	return time.Since(begin)
}

// gateCases are whose handshakes there are, and how many of them may run.
var gateCases = map[string]struct {
	from    func(i int) string
	running int
}{"one": {one, 8}, "each": {each, 64}, "each of one network": {eachOf6, 8}, "nowhere": {func(int) string { return "" }, 8}}

// TestGate: how many handshakes run at once, of how many addresses.
func TestGate(t *testing.T) {
	for name, c := range gateCases {
		t.Run(name, func(t *testing.T) {
			by := server(t)
			all := greeters(t, by, c.from, 100)
			defer closeAll(all)
			require.Equal(t, secure.Stats{Running: c.running, Waiting: 100 - c.running}, by.Stats())
			if c.running < 64 {
				served(t, by, "10.9.9.9:1")
			}
		})
	}
}

// TestGateIsPatient: for each that comes one goes that has waited for its other end for too long,
// then or as soon as one has; and nobody else.
func TestGateIsPatient(t *testing.T) {
	for name, c := range gateCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			const patience = 2 * time.Second
			by := serverWith(t, patience)
			all := greeters(t, by, c.from, c.running+2)
			defer closeAll(all)
			require.Equal(t, secure.Stats{Running: c.running, Waiting: 2}, by.Stats())
			until(t, func() bool { return failed(all) == 2 })
			until(t, func() bool { return answered(all) == c.running })
			require.Equal(t, secure.Stats{Running: c.running, Failed: 2, Replaced: 2}, by.Stats())

			time.Sleep(patience) // now all have waited for long enough
			began := time.Now()
			more := []*end{greet(by, c.from(500)), greet(by, c.from(500))}
			defer closeAll(more)
			until(t, func() bool { return answered(more) == 2 })
			require.Less(t, time.Since(began), patience)
			require.Equal(t, secure.Stats{Running: c.running, Failed: 4, Replaced: 4}, by.Stats())
		})
	}
}

// TestGateKeepsItsWord: one goes for a handshake that waits, but its place is taken by a newer one.
// Then that one goes when its time has come.
func TestGateKeepsItsWord(t *testing.T) {
	ca := newCA(t)
	by := secure.NewWith(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool()},
		secure.Limits{RunningOfOne: 1, Patience: 5 * time.Millisecond})
	for range 100 {
		all := greeters(t, by, one, 1)
		time.Sleep(6 * time.Millisecond)
		all = append(all, greet(by, one(0)), greet(by, one(0)))
		until(t, func() bool { answered(all); return len(all[1].down) > 0 && len(all[2].down) > 0 })
		closeAll(all)
		until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })
	}
}

// TestPatience: who has waited for 100 ms goes for others, unless the limits say otherwise.
func TestPatience(t *testing.T) {
	ca := newCA(t)
	by := secure.New(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool()})
	all := greeters(t, by, each, 64)
	defer closeAll(all)
	time.Sleep(110 * time.Millisecond)
	require.Less(t, served(t, by, "10.9.9.9:1"), 5*time.Second)
	require.NotZero(t, by.Stats().Replaced)
}

// TestGateServesTheNewestFirst: and those first whose address has nothing running.
func TestGateServesTheNewestFirst(t *testing.T) {
	by := server(t)
	busy := greeters(t, by, each, 64)
	defer closeAll(busy)
	var waiting []*end
	for _, from := range []string{"10.1.0.1:1", "10.1.0.2:1", "10.0.0.64:1"} { // the last one runs
		waiting = append(waiting, greet(by, from))
	}
	defer closeAll(waiting)
	require.Equal(t, 3, by.Stats().Waiting)
	for i, next := range []int{1, 0, 2} {
		busy[i].Close(1)
		until(t, func() bool { return answered(waiting) == i+1 })
		require.NotEmpty(t, waiting[next].down)
	}
}

// TestGateCountsThoseThatWaited: of one address as many run as may, however they came to it.
func TestGateCountsThoseThatWaited(t *testing.T) {
	by := server(t)
	first := greeters(t, by, one, 18)
	defer closeAll(first)
	closeAll(first[:8])
	until(t, func() bool { return answered(first[8:]) == 8 })
	more := greeters(t, by, one, 10)
	defer closeAll(more)
	require.Equal(t, secure.Stats{Running: 8, Waiting: 12, Failed: 8}, by.Stats())

	closeAll(first)
	closeAll(more)
	until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })
	busy := greeters(t, by, each, 64)
	defer closeAll(busy)
	last := []*end{greet(by, "10.9.9.9:1")}
	closeAll(busy)
	until(t, func() bool { return answered(last) == 1 })
	for range 20 {
		last = append(last, greet(by, "10.9.9.9:1"))
	}
	defer closeAll(last)
	until(t, func() bool { return by.Stats().Running == 8 && answered(last) == 8 })
}

// TestGateLooksBehindTheCrowded: one that its own address keeps from running keeps no others from
// those that have lost patience.
func TestGateLooksBehindTheCrowded(t *testing.T) {
	const patience = 2 * time.Second
	by := serverWith(t, patience)
	busy := greeters(t, by, each, 56)
	defer closeAll(busy)
	crowd := greeters(t, by, func(int) string { return "10.9.9.9:1" }, 8)
	other := []*end{greet(by, "10.8.8.8:1")}
	defer closeAll(other)
	crowd = append(crowd, greet(by, "10.9.9.9:1"))
	defer closeAll(crowd)
	time.Sleep(patience / 2)
	for _, e := range crowd[:8] {
		e.receives([]byte{22}, 0) // it hasn't waited for long
	}
	until(t, func() bool { return answered(other) == 1 })
	require.Equal(t, 1, failed(busy))
	require.Zero(t, failed(crowd))
}

// TestGateIsBounded: of those that wait the oldest have no chance, of the address of which the most
// wait. They aren't told.
func TestGateIsBounded(t *testing.T) {
	by := server(t)
	busy := greeters(t, by, each, 64)
	defer closeAll(busy)
	all := []*end{greet(by, "10.8.8.8:1")}
	for range 256 + 10 {
		all = append(all, greet(by, "10.9.9.9:1"))
	}
	defer closeAll(all)
	require.Equal(t, 256, by.Stats().Waiting)
	for i, next := range []int{266, 0} {
		busy[i].Close(1)
		until(t, func() bool { return answered(all) == i+1 })
		require.NotEmpty(t, all[next].down)
	}
	require.Zero(t, failed(all))
}

// TestGateOfThoseThatGo: a connection that ends gives its place back, wherever it is.
func TestGateOfThoseThatGo(t *testing.T) {
	by := server(t)
	all := greeters(t, by, each, 100)
	closeAll(all[64:])
	require.Equal(t, secure.Stats{Running: 64}, by.Stats())
	closeAll(all[:64])
	until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })
	require.EqualValues(t, 64, by.Stats().Failed, "who waited wasn't served")
	served(t, by, "10.9.9.9:1")
}

// TestHandshakeTime: a handshake has two seconds, in each of its states.
func TestHandshakeTime(t *testing.T) {
	by := server(t)
	text := hello()
	for _, n := range []int{0, 3, len(text) - 1, len(text)} {
		e := newEnd("10.0.0.1:1", by.Server())
		e.receives(text[:n], 0)
		for i := range e.Len() {
			require.EqualValues(t, 2*time.Second, e.Alarm(i)-1)
		}
		e.Tick(int64(2 * time.Second))
		require.NoError(t, e.Err())
		e.Tick(1 + int64(2*time.Second))
		require.ErrorIs(t, e.Err(), secure.ErrHandshakeTime)
		until(t, func() bool { return by.Stats().Running == 0 }) // before the connection has closed
		e.Close(1)
	}
}

// TestNothingIsLeft: of handshakes that end in all ways.
func TestNothingIsLeft(t *testing.T) {
	by := server(t)
	text := hello()
	n := 1000
	for i := range n {
		switch i % 4 {
		case 0:
			served(t, by, each(i))
		case 1: // goes while it runs
			e := newEnd(each(i), by.Server())
			e.receives(text, 0)
			e.Close(1)
		case 2: // garbled
			e := newEnd(each(i), by.Server())
			e.receives(append(text[:len(text)/2:len(text)/2], make([]byte, len(text)/2)...), 0)
			e.Close(1)
		case 3:
			closeAll(greeters(t, by, each, 1))
		}
	}
	until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })
	require.EqualValues(t, 2*n/4, by.Stats().Done)
}
