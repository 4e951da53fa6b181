// Package lifecycle is the life of an actor as a machine that does nothing itself: it takes events
// and returns what is to be done, one [Effect] at a time, for package stack to do. It knows
// nothing of houses, stacks or workers. Its tests go through every phase and every event
// (testdata).
//
// An actor is
//
//	Up        it handles calls. After a failure its supervisor decides: Resume stays here,
//	          Restart -> Ending, Wait -> Failed, Stop -> Stopping
//	Starting  a start hook runs or waits for an answer; in a restart the pause and the factory
//	          come before it. Calls are held. The end of the hook -> Up, where its failure, if it
//	          failed, is decided. A stop -> Stopping: a hook that waits isn't resumed, and, if
//	          there is an instance, PostStop runs, as after a failure
//	Failed    it waits for the decision of its supervisor. Calls are held. Restart -> Ending,
//	          Resume -> Up, Stop -> Stopping
//	Ending    an instance ends, and the next one will be made. Its stacks have ended with
//	          ErrRestarted, or will when their kept jobs are home. Its children stop, then
//	          PreRestart (or PostStop) runs, then -> Starting. A stop -> Stopping
//	Stopping  the last instance ends. Its stacks have ended with ErrStopped, or will when their
//	          kept jobs are home. Calls are refused. Its children stop, then PostStop runs, then
//	          -> Gone
//	Gone      nothing leads out of it
package lifecycle
