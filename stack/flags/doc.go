// Package flags is what others tell a house, or ask about it: a word of flags, and behind them the
// number of the house's calls that wait. What the flags lead to the files of package stack say that
// stand beside them.
package flags
