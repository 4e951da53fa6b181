// Package planted shows that the explorer finds errors: it plants bugs into copies of the
// code and demands of each, when it is switched on, that the scenario of its protocol fails.
// It is tests alone, under the build tag explore.
package planted
