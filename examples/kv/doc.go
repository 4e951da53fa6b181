// Command kv is a cache that speaks the Redis protocol, in versions 2 and 3.
//
// A front actor on each worker serves the connections accepted there; a store actor on each worker
// (at most 8) holds the keys that hash to it. Every command is a resumable stack: it asks the
// stores that its keys belong to, suspends, and returns a reply, which the channel writes in the
// order of the requests. Commands on one key each that a client sends in one go share a stack and,
// unless replies are long, one ask of each store; see pipeline. Values live in a table.Table, whose
// entries the collector needn't look at.
//
// # Commands
//
// Replies and errors are those of Redis 7.0.15, byte for byte but for what is listed
// below.
//
//	strings     GET SET SETNX SETEX PSETEX GETSET GETDEL GETEX APPEND STRLEN MGET MSET MSETNX
//	            INCR DECR INCRBY DECRBY INCRBYFLOAT GETRANGE SUBSTR SETRANGE
//	hashes      HSET HMSET HSETNX HGET HMGET HGETALL HKEYS HVALS HDEL HLEN HEXISTS HSTRLEN
//	            HINCRBY HINCRBYFLOAT HSCAN HRANDFIELD
//	keys        DEL UNLINK EXISTS TOUCH TYPE RENAME RENAMENX KEYS SCAN RANDOMKEY DBSIZE
//	            FLUSHALL FLUSHDB OBJECT MEMORY
//	expiry      EXPIRE PEXPIRE EXPIREAT PEXPIREAT TTL PTTL EXPIRETIME PEXPIRETIME PERSIST
//	connection  PING ECHO SELECT AUTH HELLO RESET QUIT CLIENT
//	server      INFO CONFIG COMMAND DEBUG
//
// # Order and atomicity
//
// Per key, the commands of one connection take effect in order: a command sends all its asks in its
// first step, and those steps run in order. The few that need more steps begin when all before them
// have been answered, and commands behind them wait until they are answered too. Behind a long
// reply, commands for the same store wait as well. See order.
//
// Work that one store does in one step is atomic: every command on one key, and RENAME, RENAMENX
// and MSETNX if one store holds all their keys. (Today that holds for commands of a pipeline in one
// store too; it isn't promised.) Across stores:
//
//   - MSET, DEL, UNLINK, MGET, EXISTS, TOUCH, FLUSHALL: each store does its part at
//     once. Another connection may see half of an MSET.
//   - RENAME takes the value, with its kind and its deadline, out of one store and
//     sends it to the other. Only the end of the process can stop it on its way. For that
//     moment neither key exists; when the answer comes, the new one does.
//   - RENAMENX and MSETNX look first and write then: a key that another connection
//     makes in between is overwritten.
//   - DBSIZE and RANDOMKEY see each store at a moment of its own.
//
// KEYS, SCAN and HSCAN give up their store after a few microseconds, and go on when other commands
// had their turn: changes made meanwhile they may see or not. So do MGET, HMGET, EXISTS and TOUCH
// of more than 128 arguments, HRANDFIELD with a count below -128, and HGETALL, HKEYS and HVALS if
// the last reply of their connection was long or there was none. Of those that go through all keys
// or fields only SCAN and HSCAN may see one twice. Commands behind them on their connection wait.
// One that takes longer than 30 s ends with an error.
//
// # What a command may cost
//
// All other commands are done in one step, while their store does nothing else. Their work is in
// proportion to the length of request and reply, which is bounded:
//
//   - GET, SET, APPEND, SETRANGE and the others on one string copy it, at most 512 MiB; APPEND
//     and SETRANGE may move it to another place, too.
//   - MSET, DEL, HSET, HDEL and the others on many names look up each: at most 1,048,576.
//   - HRANDFIELD with a count above 0 goes through all fields of a hash. RENAME to another store
//     copies them, and so do HGETALL, HKEYS and HVALS, and others in their pipeline, if the last
//     reply was short. The number of fields of a hash has no bound.
//   - Repeated options are each read; CONFIG GET takes 16 KiB of patterns.
//
// # Memory
//
// A connection has at most 8 requests in flight, and isn't read while 128 KiB of replies are
// unsent. A request is one command, or a pipeline of up to 16 while replies are short. Once a store
// has given replies of more than 128 KiB to a request it puts off later commands of the connection
// until all before them have been answered, and all but 128 KiB of that is sent. So for a client
// that reads nothing memory holds the replies of each store to 8 requests, of which one may be
// longer than 128 KiB; and, if there are several stores, a part of these twice.
//
// Before the password a request has at most 10 arguments of 16 KiB each, or is a line of 64 KiB.
// The requests of all connections that aren't answered yet may have 64 MiB together, or if that is
// less an eighth of -maxmemory, but at least 1 MiB: each worker has an equal share. Beyond that
// bound, long requests are read one at a time on each worker, and a client that sends less than 32
// KiB of one in a second while others wait is refused. Requests of up to 1 KiB are read as before.
// Bytes that come before the password count apart; their bound is an eighth of the other.
//
// With -maxmemory, Go's memory limit for everything beside the values becomes a fourth of
// -maxmemory, at least 32 MiB, unless GOMEMLIMIT is set; CONFIG SET doesn't change it. It is no
// bound: memory in use is kept. As the arena may take half as much again, -maxmemory 64mb is for a
// process of 128 MiB. Thousands of connections need a larger GOMEMLIMIT, or "off".
//
// # Where it differs from Redis
//
//   - There is one database; values are strings and hashes.
//   - An argument has at most 64 MiB, or if that is less a fourth of -maxmemory, but at least
//     1 MiB. An MGET, HMGET or KEYS takes at most 64 MiB from each store. A string may grow to
//     512 MiB.
//   - Time goes by the machine's monotonic clock: if the wall clock is set, deadlines
//     in Unix time don't move with it. A deadline more than 292 years ahead becomes one
//     of 292 years.
//   - With -maxmemory nothing is evicted, as with Redis' noeviction. Keys, values and
//     their indexes count; the arena may take half as much again. Commands in flight
//     when the limit is reached are still done.
//     CONFIG SET maxmemory needs digits; Redis takes "" and "mb" for 0.
//   - There is one user, default, with the password of -requirepass, or CONFIG SET
//     requirepass; CONFIG GET doesn't tell it.
//   - A connection knows nothing of others: CLIENT LIST lists only the one that asks, CLIENT
//     KILL ends only that, and addresses are not told. An ID named twice is listed once.
//   - OBJECT IDLETIME is 0, OBJECT FREQ an error, MEMORY USAGE this server's own sum.
//   - A connection that has given the password may send long requests, even after RESET.
//   - A request has at most 1,048,576 arguments, and 1 MiB more in all than an argument may have.
//   - An argument that isn't followed by CR LF is an invalid length, and the end of the
//     connection. Redis skips any two bytes there.
//   - A request in one line has at most 64 KiB, even if it came with one read. A NUL in it is an
//     ordinary byte; Redis doesn't see the line's end behind it.
//   - INFO has the sections Server, Clients, Memory, Stats and Runtime, and lines of its own
//     in them.
//   - HRANDFIELD with a count above 0 takes neighbours; RANDOMKEY prefers keys behind gaps if
//     nearly all keys have gone.
//   - A page of SCAN or HSCAN ends at 256 KiB, whatever its COUNT is.
//   - A cursor of SCAN goes through one store after the other, so that even the scan of
//     an empty server takes as many calls as there are stores.
//   - DEBUG GC is this server's own: it runs Go's collector, and answers how long that took,
//     in microseconds. Of Redis' DEBUG there is HELP only.
//   - COMMAND tells names, arities, where keys are and two flags, COMMAND DOCS nothing.
//     COMMAND INFO takes 1,022 names.
//     HELP lists the subcommands of this server. CONFIG SET knows maxmemory and requirepass; it
//     doesn't remove the password if other machines can reach the server.
package main
