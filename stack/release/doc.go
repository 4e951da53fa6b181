// Package release has values let go of what they hold when the pooled object that carries them is
// put: where in the object they are, and that they are a [Releaser], is noted once for each type.
package release
