// Package planted shows that the explorer finds errors: it plants bugs into copies of the
// code, one at a time, and demands that the scenario of the protocol fails. It is
// tests alone, under the build tag explore.
package planted
