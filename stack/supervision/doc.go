// Package supervision decides what becomes of actors that fail: a Strategy says it, and Tries
// counts recent restarts. Package stack does what is decided. Actors import core, which has the
// same names.
package supervision
