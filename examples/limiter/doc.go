// Limiter is a server that limits rates by key: "TAKE <key> <n>" is answered "OK <left>", or "WAIT
// <milliseconds>" if the key has less than n tokens. Other lines get "ERR <reason>" in their turn;
// one of more than 300 bytes ends its connection.
package main
