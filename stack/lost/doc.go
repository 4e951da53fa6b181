// Package lost has the reasons why nobody handled a notice, and a Tally that counts dead letters by
// reason. Actors import core, which has the same reasons.
package lost
