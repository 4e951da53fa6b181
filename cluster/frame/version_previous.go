//go:build previous

package frame

// Version is the newest version of the frames that this package reads and writes.
const Version = 1
