package table

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"
)

// The published test vectors of wyhash, final version 4.
func TestWyhashVectors(t *testing.T) {
	for seed, c := range []struct {
		key  string
		want uint64
	}{
		{"", 0x93228a4de0eec5a2},
		{"a", 0xc5bac3db178713c4},
		{"abc", 0xa97f2f7b1d9b3314},
		{"message digest", 0x786d1f1df3801df4},
		{"abcdefghijklmnopqrstuvwxyz", 0xdca5a8138ad37c87},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xb9e734f117cfaf70},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567890", 0x6cc5eab49a92d617},
	} {
		if got := veiled(uint64(seed), 0).hash([]byte(c.key)); got != c.want {
			t.Errorf("wyhash(%q, %d) = %#x, want %#x", c.key, seed, got, c.want)
		}
	}
}

// Every length up to 256, against the sum that the author's code gives.
func TestWyhashLengths(t *testing.T) {
	var key [256]byte
	for i := range key {
		key[i] = byte(i)
	}
	sum := uint64(0)
	for n := 0; n <= len(key); n++ {
		sum = sum*31 + veiled(uint64(n), 0).hash(key[:n])
	}
	if want := uint64(0xec43bbcfea61d020); sum != want {
		t.Errorf("sum %#x, want %#x", sum, want)
	}
}

// Any bit of key or seed changes half of the hash.
func TestHashAvalanche(t *testing.T) {
	for _, n := range []int{1, 3, 4, 8, 11, 16, 17, 33, 48, 100} {
		key := make([]byte, n)
		changed, flips := 0, 0
		for round := range uint64(200) {
			seed := mix(round+1, secret0)
			for i := range key {
				key[i] = byte(mix(seed, uint64(i)+secret2))
			}
			h := Hash(key, seed)
			for bit := range 8 * n {
				key[bit/8] ^= 1 << (bit % 8)
				changed += bits.OnesCount64(h ^ Hash(key, seed))
				key[bit/8] ^= 1 << (bit % 8)
				flips++
			}
			changed += bits.OnesCount64(h ^ Hash(key, seed^1<<(round%64)))
			flips++
		}
		if mean := float64(changed) / float64(flips); mean < 31.5 || mean > 32.5 {
			t.Errorf("%d bytes: a flipped bit changes %.2f of 64", n, mean)
		}
	}
}

// With the secrets of wyhash as they are, these keys collide under every seed.
func TestHashKnownConstantsDoNotCollide(t *testing.T) {
	poison := func(i uint64) []byte {
		var key []byte
		key = binary.LittleEndian.AppendUint64(key, i) // is forgotten
		key = binary.LittleEndian.AppendUint64(key, i*i)
		key = binary.LittleEndian.AppendUint64(key, secret1)
		key = binary.LittleEndian.AppendUint64(key, 7)
		return append(key, "and its end"...)
	}
	const seed = 12345
	wyhash := veiled(seed, 0).hash
	if wyhash(poison(1)) != wyhash(poison(2)) {
		t.Error("the attack is wrong, so this test tells nothing")
	}
	seen := map[uint64]bool{}
	for i := range uint64(1000) {
		seen[Hash(poison(i), seed)] = true
	}
	if len(seen) != 1000 {
		t.Errorf("1000 keys have %d hashes", len(seen))
	}
}

// The server may choose the store by the same hash and seed that it gives to the
// table: entries still stand near their homes, 0.8 slots away at this load.
func TestStoreChosenBySameSeed(t *testing.T) {
	const seed, keys = 99, 20_000
	tab := New(Config{Seed: seed})
	for i := 0; tab.Len() < keys; i++ {
		if key := fmt.Appendf(nil, "key:%d", i); Hash(key, seed)%16 == 3 {
			if err := tab.Set(key, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	away, mask := 0, uint64(len(tab.index.main)-1)
	for i, s := range tab.index.main {
		if s.at != 0 {
			away += int((uint64(i) - s.hash) & mask)
		}
	}
	if away > 2*keys {
		t.Errorf("%d entries are %d slots away from home, load %.2f", keys, away, keys/float64(mask+1))
	}
}
