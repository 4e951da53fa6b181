// Package lifecycle is the life of an actor as a machine without input or output: events go in,
// and what is to be done comes out, one [Effect] at a time, for package stack to do. It knows
// nothing of houses, stacks or workers; its tests go through every phase and every event
// (testdata).
//
// An actor is
//
//	Up        it handles calls. A failure asks its supervisor, whose word leads on: Resume stays
//	          here, Restart -> Ending, Wait -> Failed, Stop -> Stopping
//	Starting  a start hook runs or waits for an answer; in a restart behind the pause and the
//	          factory. Calls are held. Its end leads to Up, and its failure from there to the
//	          supervisor. A stop -> Stopping: what waits isn't resumed, and PostStop runs as
//	          behind a failure, if there is an instance
//	Failed    it waits for its supervisor's word; calls are held. Restart -> Ending, Resume -> Up,
//	          Stop -> Stopping
//	Ending    an instance ends, to be made anew: its stacks have ended with ErrRestarted, or do
//	          so when the jobs are home that they keep; its children stop, then PreRestart (or
//	          PostStop) runs. Then Starting. A stop -> Stopping
//	Stopping  the same for good: its stacks have ended with ErrStopped, calls are refused; its
//	          children stop, then PostStop runs. Then Gone
//	Gone      nothing leads out of it
package lifecycle
