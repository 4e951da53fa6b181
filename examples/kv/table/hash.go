package table

import (
	"encoding/binary"
	"math/bits"
)

// The default secrets of wyhash.
const (
	secret0 = 0x2d358dccaa6c78a5
	secret1 = 0x8bb84b93962eacc9
	secret2 = 0x4b33a62ed433d4a3
	secret3 = 0x4d5a2da51de1aa47
)

// Hash returns 64 bits of key under seed; all of them are good. The server
// chooses the store of a key by it. A table hashes under a seed derived from its
// own, so that both may be given the same seed.
//
//alloc:none
func Hash(key []byte, seed uint64) uint64 {
	return newHasher(seed).hash(key)
}

// hasher is what a seed contributes.
type hasher struct {
	start uint64 // the seed, mixed
	veil  uint64 // changes the secrets
}

// newHasher is for hashing often with one seed.
func newHasher(seed uint64) hasher { return veiled(seed, mix(seed^secret2, secret3)) }

// veiled is version 4.3 of Wang Yi's wyhash, of the public domain
// (github.com/wangyi-fudan/wyhash), with its secrets changed by veil. With a veil
// of 0 it gives the published values; but then whoever writes secret1 into a key
// makes a factor 0, and all that was hashed before is forgotten, whatever the seed.
func veiled(seed, veil uint64) hasher {
	return hasher{seed ^ mix(seed^secret0, secret1), veil}
}

func (h hasher) hash(key []byte) uint64 {
	s0, s1 := secret0^h.veil, secret1^h.veil
	seed := h.start
	n := len(key)
	var a, b uint64
	switch {
	case n > 16:
		p := key
		if n >= 48 {
			seed, p = h.hash48(p)
		}
		for len(p) > 16 {
			seed = mix(load64(p)^s1, load64(p[8:])^seed)
			p = p[16:]
		}
		a, b = load64(key[n-16:]), load64(key[n-8:])
	case n >= 4:
		m := n >> 3 << 2
		a = load32(key)<<32 | load32(key[m:])
		b = load32(key[n-4:])<<32 | load32(key[n-4-m:])
	case n > 0:
		a = uint64(key[0])<<16 | uint64(key[n>>1])<<8 | uint64(key[n-1])
	}
	hi, lo := bits.Mul64(a^s1, b^seed)
	return mix(lo^s0^uint64(n), hi^s1)
}

// hash48 eats p by 48 bytes, in three lanes, and returns what is left of it.
func (h hasher) hash48(p []byte) (uint64, []byte) {
	s1, s2, s3 := secret1^h.veil, secret2^h.veil, secret3^h.veil
	x, y, z := h.start, h.start, h.start
	for len(p) >= 48 {
		x = mix(load64(p)^s1, load64(p[8:])^x)
		y = mix(load64(p[16:])^s2, load64(p[24:])^y)
		z = mix(load64(p[32:])^s3, load64(p[40:])^z)
		p = p[48:]
	}
	return x ^ y ^ z, p
}

// mix folds the product of a and b.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func load64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
func load32(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) }
