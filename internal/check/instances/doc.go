// Package instances is read by the compiler alone, for the gate of internal/check that looks
// for memory in marked functions: it instantiates the generic ones that no package uses, only
// tests and other modules.
package instances
