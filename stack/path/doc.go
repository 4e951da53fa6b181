// Package path says where actors stand: in which system, and where in its tree. A Path is a value:
// it is made by parsing, or by a system for its own actors, and whether there is an actor at it
// the system knows. Actors import core, which has the same names.
package path
