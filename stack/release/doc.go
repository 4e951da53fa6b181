// Package release calls Release of values when the pooled object that carries them is put. Which
// values of an object are a [Releaser], and where they are in it, is noted once for each type.
package release
