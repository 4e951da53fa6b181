// Package storetest is what tests of stores, and tests with stores, need: a store in memory, one
// that fails when it is told to, and the rules that every store keeps.
package storetest
