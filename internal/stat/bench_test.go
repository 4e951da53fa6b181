package stat

import "testing"

// One operation is one Add.
func BenchmarkAdd(b *testing.B) {
	var g Group
	for range b.N {
		g.Add(3, 1)
	}
}

// One operation is a turn that changed five counters.
func BenchmarkGroupPublish(b *testing.B) {
	var g Group
	for range b.N {
		for i := range 5 {
			g.Add(i, 1)
		}
		g.Publish()
	}
}
