// Package turns knows which goroutines of this process run turns of workers: the workers' own, and
// guests' while they borrow turns. A blocking call in a step could wait for the worker that runs
// the step, so blocking functions call Running first.
package turns
