package frame

import "testing"

// BenchmarkTell appends and reads a TELL of 32 bytes; one operation is both.
func BenchmarkTell(b *testing.B) {
	out := make([]byte, 0, 1<<10)
	tell := Tell{To: 1, Method: 200, Message: make([]byte, 32)}
	var got Tell
	b.ReportAllocs()
	for b.Loop() {
		out = tell.Append(out[:0])
		r, _, err := Next(out)
		if err != nil || got.Read(r) != nil {
			b.Fatal(err)
		}
	}
}
