package main

import "math/bits"

// dice are pseudo-random numbers for RANDOMKEY and HRANDFIELD: no secret depends on them. They are
// Steele, Lea and Flood's SplitMix64.
type dice uint64

func (d *dice) roll() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number below n.
func (d *dice) below(n uint64) uint64 {
	hi, _ := bits.Mul64(d.roll(), n)
	return hi
}
