package fault

import "strings"

// Frames returns the calls in a trace that debug.Stack wrote, each as the function and its place,
// as in "main.(*Guard).ask /srv/guard.go:31". The calls of users' code come first, then those of
// Go's runtime and of this module; each group begins with the innermost call.
func Frames(trace []byte) []string {
	var users, others []string
	_, calls, _ := strings.Cut(string(trace), "\n") // behind "goroutine 7 [running]:"
	for calls != "" {
		var call, at string
		call, calls, _ = strings.Cut(calls, "\n")
		at, calls, _ = strings.Cut(calls, "\n")
		if i := strings.LastIndexByte(call, '('); i > 0 {
			call = call[:i] // without its arguments
		}
		at, _, _ = strings.Cut(strings.TrimSpace(at), " +0x")
		if frame := call + " " + at; runtimes(call) {
			others = append(others, frame)
		} else {
			users = append(users, frame)
		}
	}
	return append(users, others...)
}

const module = "github.com/stackhouse-go/stackhouse/"

// runtimes reports whether a function belongs to Go's runtime, or to a package of this module that
// runs actors.
func runtimes(function string) bool {
	if function == "panic" {
		return true
	}
	for _, p := range []string{"runtime.", "runtime/debug.", module + "internal/", module + "stack/"} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	rest, ours := strings.CutPrefix(function, module)
	name, _, _ := strings.Cut(rest, ".")
	switch name {
	case "channel", "core", "future", "house", "netio", "pool", "stack":
		return ours
	}
	return false
}
