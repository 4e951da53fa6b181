// Package lost is why nobody handled a notice, and how many there were: a Reason says it, and a
// Tally counts by it. Actors import core, which has the same reasons.
package lost
