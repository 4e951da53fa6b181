// Command strain shows what costly commands of some clients do to the others of a cache.
//
//	strain [-pairs N] [-seconds S] KV [ARGUMENT...]
//
// It starts the server KV, which listens on the address that it gives it, and fills it. Then 200
// connections send a small GET at a time, beside 16 that send a plain command at a time, and
// beside 16 that send a costly one: in turn, so many pairs of rounds for each costly command. It
// prints the p99 of the 200 in both, and the median of the ratios of pairs.
package main
