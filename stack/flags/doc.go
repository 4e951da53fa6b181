// Package flags has the atomic word by which workers and guests tell a house something, or find out
// about it: flags and, in the higher bits, the number of the house's calls that wait. The effect of
// each flag is described in the file of package stack that stands beside it.
package flags
