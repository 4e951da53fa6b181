// Command kv is a cache that speaks the Redis protocol, in versions 2 and 3.
//
// A front actor on each worker serves the connections accepted there; a store
// actor on each worker (at most 8) holds the keys that hash to it. Every command
// is a resumable stack: it asks the stores that its keys belong to, suspends, and
// returns a reply, which the channel writes in the order of the requests. Commands on
// one key each that a client sends in one go share a stack, and one ask of each store;
// see pipeline. Values live in a table.Table, where the collector need not look at entries.
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
// Per key, the commands of one connection take effect in order: a command sends all
// its asks in its first step, and those steps run in order. The few that need more
// steps hold back what their connection sent behind them; see queue.
//
// What one store does at once is atomic: every command on one key, and RENAME,
// RENAMENX and MSETNX if one store holds all their keys. (So are, today, the neighbours of a
// pipeline in one store; nothing promises it.) Across stores:
//
//   - MSET, DEL, UNLINK, MGET, EXISTS, TOUCH, FLUSHALL: each store does its part at
//     once. Another connection may see half of an MSET.
//   - RENAME takes the value, with its kind and its deadline, out of one store and
//     sends it to the other. Nothing can stop it on its way, but for the end of the
//     process. For that moment neither key is there; when the answer comes, the new
//     one is.
//   - RENAMENX and MSETNX look first and write then: a key that another connection
//     makes in between is overwritten.
//   - KEYS, SCAN, DBSIZE and RANDOMKEY see each store at a moment of its own.
//
// # Where it differs from Redis
//
//   - There is one database, and of the kinds of values strings and hashes.
//   - An argument has at most 64 MiB, an MGET, HMGET or KEYS takes at most 64 MiB from each
//     store. A string may grow to 512 MiB. Of up to 16 commands that come in one go, a store does no
//     more once their replies are longer than 256 MiB together, and says so.
//   - Time goes by the machine's monotonic clock: if the wall clock is set, deadlines
//     in Unix time stay where they were. One that lies further ahead than 292 years
//     counts as that.
//   - With -maxmemory nothing is evicted, as with Redis' noeviction. What counts is the
//     keys, values and their indexes; the arena may take half as much again. What is
//     in flight when the limit is reached is still done.
//   - There is one user, default, with the password of -requirepass, or CONFIG SET
//     requirepass; CONFIG GET doesn't tell it.
//   - Of other connections nothing is known: CLIENT LIST lists the one that asks, CLIENT
//     KILL ends only that, and addresses are not told.
//   - OBJECT IDLETIME is 0, OBJECT FREQ an error, MEMORY USAGE this server's own sum.
//   - Who hasn't given the password yet may send requests as long as others may; Redis
//     takes ten arguments of 16 KiB then.
//   - INFO has the sections Server, Clients, Memory, Stats and Runtime, and lines of its own
//     in them.
//   - HRANDFIELD with a count above 0 takes neighbours; RANDOMKEY prefers keys behind gaps if nearly all keys have gone.
//   - A cursor of SCAN goes through one store after the other, so that even the scan of
//     an empty server takes as many calls as there are stores.
//   - DEBUG GC is this server's own: it runs Go's collector, and answers how long that took,
//     in microseconds. Of Redis' DEBUG there is HELP only.
//   - COMMAND tells names, arities, where keys are and two flags, COMMAND DOCS nothing.
//     HELP speaks of what is here. CONFIG SET knows maxmemory and requirepass.
package main
