// Package tracing has what an ask brings along, beside its request, for all asks that follow from
// it: a trace as of W3C Trace Context, and pairs of names and values. Package stack has the word by
// which a stack refers to it; actors import core.
package tracing
