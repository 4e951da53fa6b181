// Package wheel keeps the timers of one worker in a hierarchical timing wheel.
//
// The scheme is the hierarchical wheel of Varghese and Lauck, "Hashed and
// Hierarchical Timing Wheels" (SOSP 1987). A time is written in base 64, eleven
// digits of six bits; level l of the wheel has a slot for each value of digit l.
// A node stands on the level of the highest digit in which its time differs from
// the wheel's, in the slot of that digit. So every slot is a range of time, the
// ranges don't overlap, all of level l comes before all of level l+1, and two
// bitmap look-ups find the first slot. When the wheel's time enters a slot, its
// nodes move to lower levels. A slot of level 0 is one nanosecond.
//
// Eleven digits hold every int64, so no time is too far. The lowest slots of a classic wheel are
// ticks of, say, half a millisecond, whose nodes must then be sorted or scanned again and again;
// here a lowest slot is one nanosecond, and its nodes are in order already. That was measured to
// cost 3 ns a timer when timers are sparse, and to be many times faster than sorting when hundreds
// share a tick.
//
//	Arm, Cancel   O(1)
//	Next, Len     O(1)
//	Advance       O(1) when nothing is due. A node is moved at most ten times
//	              between Arm and its return, in practice once to three times;
//	              one long jump costs no more than many small steps
//
// The longest single Advance is the one that enters a full slot: a million nodes
// due within the same 68 s (a slot of level 6) take about 10 ms to move when
// that range begins.
//
// # Promises
//
// A node is never returned before the time passed to [Wheel.Advance] has reached its When, and is
// always returned by the first Advance that has. So a timer is late only if Advance is called late;
// [Wheel.Next] says by when to call it. The order is exact: by When, and among equals in order of
// arming. A node armed late, with a When before the wheel's time, counts as due at the wheel's
// time. So the same calls always give the same order, and dividing an Advance into smaller ones
// doesn't change it.
//
// Nothing here allocates. Time is an argument, in nanoseconds of the system's monotonic clock; the
// wheel reads no clock.
//
// # Who may call
//
// One worker owns a Wheel. It alone calls the Wheel, and touches the Node fields of nodes that are
// armed in it. A node stands in one wheel at most; to hand it to another worker, Cancel it here and
// Arm it there.
package wheel
