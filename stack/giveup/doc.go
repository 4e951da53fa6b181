// Package giveup has the word of a call that says whether its asker has given up. The word also
// decides who then puts the call's stack: the side that brings the answer home, or the side that
// takes the call from a chain of given-up calls. Package stack keeps those chains.
//
// A call is
//
//	wanted    from its take on
//	heldBack  wanted, but it must not begin yet: only requests of connections are
//	givenUp   nobody waits for it any more. The callee's owner looks for this when it takes the
//	          call from its lane, forms a batch, or resumes the call. The stack is put when the
//	          answer comes home
//	chained   given up, and on the chain of its house, or about to be pushed there by the side
//	          that stored this: the stack isn't put. Or its guest stored this too late: then the
//	          guest has the answer, and puts the stack
//	answered  given up, chained, and the answer has come home: whoever takes the call from the
//	          chain puts the stack
//
// Only the asker's side stores, while the call is wanted: GiveUp and Chain. A connection stores
// HoldBack and LetBegin, in turns of its house. From chained on the word is only swapped, by Heed
// or Answer, and the one that comes first decides who puts the stack.
package giveup
