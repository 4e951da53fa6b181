package table
import "testing"
func BenchmarkHot(b *testing.B) {
	for _, n := range []int{100, 100000} {
	tab, keys := filled(b, n, 0)
	v := make([]byte, 64)
	b.Run("get", func(b *testing.B) { i := 0; for b.Loop() { tab.Get(keys[i],1); if i++; i==n {i=0} } })
	b.Run("set", func(b *testing.B) { i := 0; for b.Loop() { tab.Set(keys[i],v,0); if i++; i==n {i=0} } })
	}
}
