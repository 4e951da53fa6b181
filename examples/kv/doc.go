// Command kv is a cache that speaks the Redis protocol.
//
// A front actor on each worker serves the connections accepted there; a store
// actor on each worker (at most 8) holds the keys that hash to it. Every command
// is a resumable stack: it asks the stores that its keys belong to, suspends, and
// returns a reply, which the channel writes in the order of the requests.
//
// Per key, the commands of one connection take effect in order, because a
// command sends all its asks in its first step, and those steps run in order.
// Commands on several keys are not atomic across stores: another connection may
// see half of an MSET.
//
// Values live in a table.Table, where the collector need not look at entries.
package main
