// Proof kills and starves a reservation service under load, and looks whether it kept what it
// answered. Buyers reserve, confirm and release pieces of few items of which there are too few,
// and keep a journal of what they were answered. A request without an answer is repeated, with
// its key, until there is one. Then the journal and the service must agree: on each item's
// pieces, held and confirmed, and on each reservation. So nothing that was acknowledged is lost,
// nothing that was repeated is done twice, and nothing is sold that isn't there.
//
//	proof -server BINARY -store WHERE -kills 20            kill -9 at random moments, and start
//	                                                       again
//	proof -server BINARY -store URL -pgdata DIR -- START   the same database, stopped by SIGSTOP
//	                                                       and then by an immediate shutdown,
//	                                                       for -outage each; START is the
//	                                                       command that starts it again
//	proof -inject -store DIR                               bbolt in this process, by a store
//	                                                       that fails for -outage
//
// While the store is down no change may be acknowledged, and each request that needs the store
// must be refused in time, with a code that says so; when it is back the same process must go on.
package main
