// Echo is a server that sends back what it gets: bytes as they come, or, with -length, messages of
// that length, each in a stack of its own. With -client it loads such a server, and says how many
// messages a second have come back, and how late.
package main
