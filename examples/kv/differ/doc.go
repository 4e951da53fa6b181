// Command differ sends the same random commands to redis-server and to kv, and
// compares the replies byte for byte. It ends with code 1 at the first difference,
// and prints it with the shortest conversation found that leads to it. With -all it
// goes on, on emptied servers.
//
//	differ -redis 127.0.0.1:6379 -kv 127.0.0.1:6380 -n 200000 -seed 1
//
// Both servers are emptied first, and again to shorten a conversation: give it none
// whose data matters. Redis must have one database, as kv has (--databases 1).
//
// Commands come in batches of 1 to 64, each on one of several connections, some of which speak
// RESP3. A batch begins when all replies to the one before it have come, so that both servers see
// one order. Keys are few, so that commands meet each other's work; many commands are wrong in some
// way: arities, types, integers, options. Some values have hundreds of kilobytes. Now and then a
// connection is reset, and another takes its place. All of it follows from the seed.
//
// Times are either in the past or so far ahead that nothing expires during a run,
// and no two of them are closer to each other than a run takes.
//
// What Redis leaves open, or what depends on the server, is compared more freely
// (see rules.go): the order of KEYS and of large hashes, remaining times (within a
// second, and not at all behind 292 years), RANDOMKEY, INFO and the like by their type
// only. SCAN is followed to its end and must find the same keys. Errors are always
// compared byte for byte.
//
// With -pass, both servers must ask for that password (requirepass), and
// connections lose and regain their rights by RESET and AUTH.
//
// To see that a difference is found, run it against a redis-server that is
// configured differently, such as one with --hash-max-listpack-value 10.
package main
