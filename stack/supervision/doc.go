// Package supervision is what becomes of actors that fail: a Strategy says it, and Tries counts
// how often they were restarted of late. It decides and counts; the actors' lives are changed by
// package stack. Actors import core, which has the same names.
package supervision
