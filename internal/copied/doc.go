// Package copied has values that are read often and changed seldom: the subscribers of a topic, the
// members of a router. A Value is one value, a Set several. What a reader gets never changes.
package copied
