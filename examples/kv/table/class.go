package table

import "math/bits"

// Size classes are numbered from 1. Their blocks have 16, 32, 48, 64 bytes, then
// four sizes for each doubling: 80, 96, 112, 128, 160 and so on. So a block of
// class 5 or above has less than a fifth of itself unused, below that less than
// 16 bytes.
const classMax = 4 + 4*22 // that of 1<<28 bytes, a fourth of the largest segment

// classLarge stands for segments that are one block.
const classLarge = 255

// classOf returns the smallest class whose blocks have n bytes, n at least 1.
func classOf(n int) int {
	if n <= 64 {
		return (n + 15) >> 4
	}
	e := bits.Len(uint(n - 1)) // 1<<(e-1) < n <= 1<<e
	return 4*(e-6) + (n-1)>>(e-3) - 3
}

// classSize returns the size of the blocks of class c.
func classSize(c int) int {
	if c <= 4 {
		return c << 4
	}
	c -= 5
	return (5 + c&3) << (4 + c>>2)
}
