// Command overload shows what a server does with twice the load that it can carry.
//
//	overload -serve        the server, on one worker; it prints its address, and on SIGTERM its
//	                       counts
//	overload COMMAND...    the load, and the verdict, on a server that the command starts
//
// A request burns 20 µs, and has 100 ms from when it was due. First a closed loop with fewer
// requests under way than the mailbox takes measures the peak. Then an open loop sends twice as
// many, whatever comes back. Goodput is the replies within 100 ms. What is beyond
// channel.Config.WorkMax, what the mailbox has no room for, and what has expired is refused, and
// counted on both sides. The process fails if goodput is below 80 % of the peak, a count differs,
// a handler began after its deadline by its worker's clock, or memory grew.
//
// The script .ci/overload gives each process a processor, and the server 128 MiB.
package main
