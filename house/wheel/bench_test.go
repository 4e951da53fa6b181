package wheel

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stackhouse-go/stackhouse/future"
)

// One operation is one deadline, five seconds away, set and cancelled while 1000
// others stand: the life of an ask that is answered.
func BenchmarkArmCancel(b *testing.B) {
	var w Wheel
	w.Init(second)
	nodes := make([]future.Node, 1000)
	b.ReportAllocs()
	for i := range b.N {
		n := &nodes[i%len(nodes)]
		if n.Armed() {
			w.Cancel(n)
		}
		w.Arm(n, 6*second+int64(i))
	}
}

// One operation is one timer armed and fired. Each of the k timers is armed again
// when it fires, for a random time up to the given delay; turns are 5 µs apart, or
// longer when nothing is due.
func BenchmarkArmFire(b *testing.B) {
	for _, k := range []int{100, 10_000, 1_000_000} {
		for _, most := range []int64{second / 1000, second / 10, 10 * second} {
			b.Run(fmt.Sprintf("timers=%d/delay=%dms", k, most*1000/second), func(b *testing.B) {
				armFire(b, k, most)
			})
		}
	}
}

func armFire(b *testing.B, k int, most int64) {
	const turn = 5_000
	r := rand.New(rand.NewSource(1))
	delays := make([]int64, 1<<16)
	for i := range delays {
		delays[i] = 1 + r.Int63n(most)
	}
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, k)
	armed := 0
	arm := func(n *future.Node, now int64) {
		w.Arm(n, now+delays[armed%len(delays)])
		armed++
	}
	for i := range nodes {
		arm(&nodes[i], 0)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for now := int64(0); armed < k+b.N; {
		at, _ := w.Next()
		now = max(now+turn, at)
		for n := w.Advance(now); n != nil; {
			next := n.Next
			arm(n, now)
			n = next
		}
	}
}

// One operation is one turn in which nothing is due, among 1000 timers.
func BenchmarkAdvanceIdle(b *testing.B) {
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, 1000)
	for i := range nodes {
		w.Arm(&nodes[i], year+int64(i)*second)
	}
	for i := range b.N {
		w.Advance(int64(i))
	}
}

// One operation is the worst Advance with a million timers: all share the slot
// that it enters.
func BenchmarkEnterFullSlot(b *testing.B) {
	const begin = int64(1) << 36
	r := rand.New(rand.NewSource(1))
	nodes := make([]future.Node, 1_000_000)
	for range b.N {
		b.StopTimer()
		var w Wheel
		w.Init(0)
		for i := range nodes {
			nodes[i] = future.Node{}
			w.Arm(&nodes[i], begin+1+r.Int63n(begin-1))
		}
		b.StartTimer()
		w.Advance(begin)
	}
}
