package future

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQueueAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var q Queue
		var want []*Node
		nodes := make([]Node, 1+r.IntN(20))
		for i := range nodes {
			nodes[i].When = int64(i)
		}
		for op := range 300 {
			n := &nodes[r.IntN(len(nodes))]
			switch k := r.IntN(8); {
			case k < 4 && !n.Queued():
				q.Push(n)
				want = append(want, n)
			case k < 6 && n.Queued():
				q.Remove(n)
				want = slices.DeleteFunc(want, func(x *Node) bool { return x == n })
				alone(t, seed, op, nodes, n)
			case k >= 6:
				n = q.Pop()
				if len(want) == 0 {
					if n != nil {
						t.Fatalf("seed %d op %d: Pop of an empty queue = %+v", seed, op, *n)
					}
					break
				}
				if n != want[0] {
					t.Fatalf("seed %d op %d: Pop returned another than the oldest", seed, op)
				}
				want = want[1:]
				alone(t, seed, op, nodes, n)
			}
			compareQueue(t, seed, op, &q, want)
		}
	}
}

// alone requires n, one of nodes, to stand nowhere and to be unchanged otherwise.
func alone(t *testing.T, seed uint64, op int, nodes []Node, n *Node) {
	t.Helper()
	if *n != (Node{When: n.When}) || &nodes[n.When] != n || n.Queued() || n.Armed() {
		t.Fatalf("seed %d op %d: out of the queue, the node is %+v", seed, op, *n)
	}
}

func compareQueue(t *testing.T, seed uint64, op int, q *Queue, want []*Node) {
	t.Helper()
	var last *Node
	i := 0
	for n := q.head; n != nil; last, n = n, n.Next {
		if i >= len(want) || want[i] != n || n.Prev != last || !n.Queued() || n.Armed() {
			t.Fatalf("seed %d op %d: place %d of %d holds %+v", seed, op, i, len(want), *n)
		}
		i++
	}
	if i != len(want) || q.tail != last || q.Empty() != (i == 0) {
		t.Fatalf("seed %d op %d: %d nodes, want %d; Empty %v", seed, op, i, len(want), q.Empty())
	}
}

func TestQueueRefuses(t *testing.T) {
	var q Queue
	var n Node
	panics(t, "future: remove of a node that is not queued", func() { q.Remove(&n) })
	q.Push(&n)
	panics(t, "future: push of a node that is armed or queued", func() { q.Push(&n) })
	if q.Pop() != &n || !q.Empty() {
		t.Error("a refused push changed the queue")
	}
	n.Slot = 7 // armed in a wheel
	panics(t, "future: push of a node that is armed or queued", func() { q.Push(&n) })
	panics(t, "future: remove of a node that is not queued", func() { q.Remove(&n) })
	if !n.Armed() || n.Queued() {
		t.Error("a node in a wheel's slot is armed and not queued")
	}
}
