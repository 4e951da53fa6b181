// Package path says where actors stand: in which system, and where in its tree. A Path is a value,
// made by parsing or by a system for its own actors. It doesn't say whether there is an actor: the
// system knows that. Actors import core, which has the same names.
package path
