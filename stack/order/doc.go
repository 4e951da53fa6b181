// Package order has the orders in which a mailbox may give the calls that wait in it: by priority,
// or one call of each sender in turn; and [Rules], which bound a mailbox. The type of calls is a
// parameter. Calls are chained by a link of their own, so that nothing is allocated for a call. A
// mailbox has one owner at a time.
package order
