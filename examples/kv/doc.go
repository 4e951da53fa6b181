// Command kv is a cache that speaks the Redis protocol, in versions 2 and 3.
//
// A front actor on each worker serves the connections accepted there; a store actor on each worker
// (at most 8) holds the keys that hash to it. Every command is a resumable stack: it asks the
// stores that its keys belong to, suspends, and returns a reply, which the channel writes in the
// order of the requests. Commands on one key each that a client sends in one go share a stack and,
// unless replies are long, one ask of each store; see pipeline. Values live in a table.Table,
// where the collector need not look at entries.
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
// steps begin when all before them have been answered, and hold back what their connection sent
// behind them; so does, in its store, a long reply. See order.
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
//   - DBSIZE and RANDOMKEY see each store at a moment of its own.
//
// KEYS, SCAN and HSCAN give their store up after a few microseconds, and go on when others had
// their turn: what changes meanwhile they may see or not. So do MGET, HMGET, EXISTS and TOUCH of
// more than 128 arguments, HRANDFIELD of more than 128 fields of which some may be the same, and
// HGETALL, HKEYS and HVALS where the last reply of their connection was long, or there was none.
// None of them sees a key or a field twice, but for SCAN and HSCAN. Commands behind them on their
// connection wait. One that takes longer than 30 s is an error.
//
// # What a command may cost
//
// All others are done at once, while their store does nothing else. Their work is in proportion
// to what they send and answer, and that is bounded:
//
//   - GET, SET, APPEND, SETRANGE and all on one string copy it, which has at most 512 MiB;
//     APPEND and SETRANGE may move it to another place, too.
//   - MSET, DEL, HSET, HDEL and all that change much look up each argument: at most 1,048,576.
//   - HRANDFIELD of a count above 0 goes through all fields of a hash, and RENAME to another store
//     copies them, as does HGETALL, and those that came with it, the first time behind short
//     replies. Nothing bounds how many a hash has.
//   - Options that are repeated are read once each; CONFIG GET takes 16 KiB of patterns.
//
// # Memory
//
// A connection has at most 8 requests in flight, and isn't read while 128 KiB wait for it. A
// request is one command, or a pipeline of up to 16 while replies are short. Once a store has
// given replies of more than 128 KiB to a request it puts off what is behind them on the same
// connection: that is done when all before it has been answered, and sent but for 128 KiB. So a
// client that reads nothing has in memory the replies of each store to 8 requests, one of which
// may be longer than 128 KiB; and, if there are several stores, a part of these twice.
//
// Before its password a connection sends at most 10 arguments of 16 KiB, or a line of 64 KiB. All
// connections together may have sent 64 MiB that aren't answered, or an eighth of -maxmemory, at
// least 1 MiB, if that is less: each worker has a share of it. Beyond, long requests are read one
// at a time on each worker: while others wait a client that sends less than 32 KiB in a second is
// refused. Those of up to 1 KiB are read as before. What comes before the password counts apart,
// and has an eighth of that.
//
// With -maxmemory, Go's collector is told to keep what is beside the values below a fourth of
// that, at least 32 MiB, unless GOMEMLIMIT says something else; CONFIG SET doesn't change that.
// It is no bound: what is in use stays. With the arena's half as much again, -maxmemory 64mb is
// for a process of 128 MiB. Thousands of connections want a larger GOMEMLIMIT, or "off".
//
// # Where it differs from Redis
//
//   - There is one database, and of the kinds of values strings and hashes.
//   - An argument has at most 64 MiB, and a fourth of -maxmemory, or 1 MiB if that is more. An
//     MGET, HMGET or KEYS takes at most 64 MiB from each store. A string may grow to 512 MiB.
//   - Time goes by the machine's monotonic clock: if the wall clock is set, deadlines
//     in Unix time stay where they were. One that lies further ahead than 292 years
//     counts as that.
//   - With -maxmemory nothing is evicted, as with Redis' noeviction. What counts is the
//     keys, values and their indexes; the arena may take half as much again. What is
//     in flight when the limit is reached is still done.
//     CONFIG SET maxmemory wants digits; Redis takes "" and "mb" for 0.
//   - There is one user, default, with the password of -requirepass, or CONFIG SET
//     requirepass; CONFIG GET doesn't tell it.
//   - Of other connections nothing is known: CLIENT LIST lists the one that asks, CLIENT
//     KILL ends only that, and addresses are not told. One ID twice is listed once.
//   - OBJECT IDLETIME is 0, OBJECT FREQ an error, MEMORY USAGE this server's own sum.
//   - Who has given the password once may send long requests, even after RESET.
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
//     HELP speaks of what is here. CONFIG SET knows maxmemory and requirepass; it doesn't take the
//     password from a server that others than this machine reach.
package main
