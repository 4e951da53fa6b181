package pool

import "testing"

// One operation is one object taken and put by its home, while a few others are free.
func BenchmarkTakePut(b *testing.B) {
	var s Shard
	warm(&s, 16)
	b.ReportAllocs()
	for b.Loop() {
		s.Put(s.Take(plainKind))
	}
}

// One operation is one object taken at home and put by another shard; every 32
// of them are flushed, and so come home together.
func BenchmarkPutAbroad(b *testing.B) {
	var home, away Shard
	warm(&home, 64)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		away.Put(home.Take(plainKind))
		if i%32 == 0 {
			away.Flush()
		}
	}
}

// One operation is one run of 100 bytes taken and released by its only holder.
func BenchmarkBytes(b *testing.B) {
	var s Shard
	b.ReportAllocs()
	for b.Loop() {
		s.Bytes(100).Release()
	}
}

// One operation is one count raised and dropped.
func BenchmarkRetainRelease(b *testing.B) {
	var s Shard
	p := s.Bytes(100)
	b.ReportAllocs()
	for b.Loop() {
		p.Retain().Release()
	}
}

// One operation is one object taken and put by a goroutine that is no worker.
func BenchmarkGuests(b *testing.B) {
	var g Guests
	b.ReportAllocs()
	for b.Loop() {
		g.Put(g.Take(plainKind))
	}
}

func warm(s *Shard, n int) {
	taken := make([]*Object, n)
	for i := range taken {
		taken[i] = s.Take(plainKind)
	}
	for _, o := range taken {
		s.Put(o)
	}
}
