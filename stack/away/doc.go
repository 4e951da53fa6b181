// Package away says how calls leave the process, and how those of other processes are answered. A
// house stands in for an actor of another process: its [Remote] takes the calls. For an actor of
// this process a [Server] asks, in the name of others. Package stack calls both, and says when.
package away
