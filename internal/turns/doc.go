// Package turns knows which goroutines of this process run turns of workers: a worker's own, and a
// guest's while it borrows turns. A blocking call made in a step would wait for a worker that waits
// for it, so whoever offers such a call asks Running first.
package turns
