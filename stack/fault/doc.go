// Package fault has the errors of the runtime: the reasons why an ask ends without a reply, and the
// failures of actors' own code, as askers, supervisors and logs get them. Actors import core,
// which has the same names.
package fault
