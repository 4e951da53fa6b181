// Package giveup is whether the asker of a call has given up, as one word of the call, and who then
// puts the call's stack: the side that brings the answer home, or the one that takes the call from
// a chain of those that were given up. How calls get onto that chain package stack says.
//
// A call is
//
//	wanted    from its take on
//	heldBack  the same, of a request of a connection: it isn't to begin yet
//	givenUp   nobody waits for it any more. It is looked up when the call is taken from its
//	          lane, when a batch is formed, and before each resumed step. Its answer is put when
//	          it comes home
//	chained   the same, and it stands on the chain of its house, or whoever stored this is
//	          about to push it there: it isn't put. Or its guest stored this too late, has the
//	          answer, and puts it
//	answered  the same, and its answer has come home: who takes it from the chain puts it
//
// Only the asker's side stores, while the call is wanted: GiveUp, Chain, or, the connection in a
// turn of its house, HoldBack and LetBegin. Then the word is swapped, by Heed or Answer. Which of
// them comes first says who puts the stack.
package giveup
