// Package order has the orders in which a mailbox may give the calls that wait in it: by priority,
// and fair by sender. What a call is they don't know; they chain calls by a link of theirs, so
// that nothing is allocated for a call. A mailbox has one owner at a time.
package order
