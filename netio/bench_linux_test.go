//go:build !portable

package netio

import (
	"testing"

	"golang.org/x/sys/unix"
)

func benchPoller(b *testing.B) *Poller {
	p, err := Open()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	p.Poll()
	return p
}

func benchPair(b *testing.B) [2]int {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { Close(fds[0]); Close(fds[1]) })
	return fds
}

// One operation is a Poll that finds nothing.
func BenchmarkPollNothing(b *testing.B) {
	p := benchPoller(b)
	for b.Loop() {
		p.Poll()
	}
}

// The same through a system call that the runtime knows of.
func BenchmarkWaitNothing(b *testing.B) {
	p := benchPoller(b)
	for b.Loop() {
		p.Wait(0)
		p.Deliver()
	}
}

// One operation is a Wake and the Wait that it ends, on one thread.
func BenchmarkWakeWait(b *testing.B) {
	p := benchPoller(b)
	for b.Loop() {
		p.Wake()
		p.Wait(-1)
		p.Deliver()
	}
}

// One operation is a write of 64 bytes, the Poll that reports it, and the read.
func BenchmarkWritePollRead(b *testing.B) {
	p, fds := benchPoller(b), benchPair(b)
	if _, err := p.Add(fds[0], new(counter)); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64)
	for b.Loop() {
		Write(fds[1], buf)
		p.Poll()
		Read(fds[0], buf)
	}
}

// One operation is the delivery of one event, without a system call.
func BenchmarkDispatch(b *testing.B) {
	p, fds := benchPoller(b), benchPair(b)
	t, err := p.Add(fds[0], new(counter))
	if err != nil {
		b.Fatal(err)
	}
	for i := range p.events {
		p.events[i] = event(unix.EPOLLIN, t)
	}
	b.ResetTimer()
	for left := b.N; left > 0; {
		p.at, p.end = 0, min(left, len(p.events))
		left -= p.end
		p.Deliver()
	}
}

// One operation is registering and removing a descriptor.
func BenchmarkAddRemove(b *testing.B) {
	p, fds := benchPoller(b), benchPair(b)
	h := new(counter)
	for b.Loop() {
		t, _ := p.Add(fds[0], h)
		p.Remove(t, fds[0])
	}
}
