// Package siblings is a list in the order of arrival, from which any member can be taken out: the
// children of an actor. Each member has the links to its neighbours itself, so the list takes no
// memory of its own, and taking one out takes no search.
package siblings
