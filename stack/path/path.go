package path

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Path is where an actor stands: in which system, which may be on another machine, and where in the
// tree below a guardian, "/user" or "/system". It is comparable, and stays the same after the actor
// has stopped. The zero Path is nowhere.
//
//	stackhouse://shop@10.0.0.7:7400/user/orders/order.42
//	stackhouse://shop/user/orders/order.42     its system can't be reached from other systems
//	/user/orders/order.42                      in the system where it is looked up
type Path struct {
	system string
	host   string // as in a URL: an IPv6 address has brackets; empty: no other system reaches it
	port   uint16
	local  string // from the guardian on, as in "/user/orders"; empty: the system's root
}

// The guardians, which stand at the top of the tree. They belong to the system and aren't actors.
const (
	User   = "user"
	System = "system"
)

const (
	scheme = "stackhouse://"
	// pathMax is the longest path, in bytes: enough for any tree, and short enough for a log.
	pathMax = 4096
	// nameMax is the longest name, in bytes, and hostMax the longest host, as in DNS.
	nameMax, hostMax = 255, 253
)

var errPath = errors.New("stackhouse: no path of an actor")

// Parse reads a path in one of its forms. String returns the accepted text byte for byte. The error
// says what is wrong.
func Parse(text string) (Path, error) {
	if len(text) > pathMax {
		return Path{}, fmt.Errorf("%w: it has %d bytes, %d are possible", errPath, len(text), pathMax)
	}
	p, rest := Path{}, text
	if after, absolute := strings.CutPrefix(text, scheme); absolute {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			return Path{}, fmt.Errorf("%w: %q ends behind its system", errPath, text)
		}
		system, at, reachable := strings.Cut(after[:slash], "@")
		if reachable && at == "" {
			return Path{}, fmt.Errorf("%w: %q has an @ without a host", errPath, text)
		}
		var err error
		if p, err = NewOrigin(system, at); err != nil {
			return Path{}, fmt.Errorf("%w: %q: %w", errPath, text, err)
		}
		rest = after[slash:]
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 2 || parts[0] != "" || parts[1] != User && parts[1] != System {
		return Path{}, fmt.Errorf("%w: %q is neither below /user nor below /system", errPath, text)
	}
	for _, part := range parts[2:] {
		if err := checkSegment(part); err != nil {
			return Path{}, fmt.Errorf("%w: %q: %w", errPath, text, err)
		}
	}
	p.local = rest
	return p, nil
}

// NewOrigin returns the path of a system's root, with which its actors' paths begin. at is the
// address at which others reach it, as in "10.0.0.7:7400" or "[::1]:7400"; empty: they don't.
func NewOrigin(system, at string) (Path, error) {
	if err := checkSystem(system); err != nil {
		return Path{}, err
	}
	p := Path{system: system}
	if at == "" {
		return p, nil
	}
	colon := strings.LastIndexByte(at, ':')
	if colon < 0 {
		return Path{}, fmt.Errorf("%q has no port", at)
	}
	host, port := at[:colon], at[colon+1:]
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return Path{}, fmt.Errorf("%q is no port", port)
	}
	if err := checkHost(host); err != nil {
		return Path{}, err
	}
	p.host, p.port = host, uint16(n)
	return p, nil
}

// String returns the path with all that is known of its system.
func (p Path) String() string {
	if p.system == "" {
		return p.local
	}
	return scheme + p.Origin() + p.local
}

// Origin returns the system and the address at which others reach it, as in "shop@10.0.0.7:7400",
// or the system alone.
func (p Path) Origin() string {
	if p.host == "" {
		return p.system
	}
	return p.system + "@" + p.host + ":" + strconv.Itoa(int(p.port))
}

// System returns the system's name; empty: the path doesn't say.
func (p Path) System() string { return p.system }

// Address returns the address at which others reach the system, as in "10.0.0.7:7400"; empty: they
// don't.
func (p Path) Address() string {
	_, at, _ := strings.Cut(p.Origin(), "@")
	return at
}

// Local returns the path within its system, as in "/user/orders/order.42".
func (p Path) Local() string { return p.local }

// Name returns the last part, as in "order.42".
func (p Path) Name() string { return p.local[strings.LastIndexByte(p.local, '/')+1:] }

// Kind returns the parts of the name before and behind its first dot, as in "order" and "42".
// Without a dot id is empty.
func (p Path) Kind() (kind, id string) {
	kind, id, _ = strings.Cut(p.Name(), ".")
	return kind, id
}

// Parent returns the path without its last part; false: p is the path of a guardian, or of none.
func (p Path) Parent() (Path, bool) {
	last := strings.LastIndexByte(p.local, '/')
	if last <= 0 {
		return Path{}, false
	}
	p.local = p.local[:last]
	return p, true
}

// Below returns the path in the system of p whose Local is local.
func (p Path) Below(local string) Path {
	p.local = local
	return p
}

// CheckName returns an error that says why name can't be the name of an actor; nil: it can.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("stackhouse: an empty name")
	case len(name) > nameMax:
		return fmt.Errorf("stackhouse: a name of %d bytes, %d are possible", len(name), nameMax)
	}
	for _, c := range []byte(name) {
		if !alphanumeric(c) && !strings.ContainsRune("-_.~@:+", rune(c)) {
			return fmt.Errorf("stackhouse: the name %q has a byte that names can't have", name)
		}
	}
	return nil
}

// checkSegment is CheckName for a part of a path, which is "$" and a number if the actor has no
// name.
func checkSegment(part string) error {
	number, nameless := strings.CutPrefix(part, "$")
	if !nameless {
		return CheckName(part)
	}
	if n, err := strconv.ParseUint(number, 10, 64); err != nil || strconv.FormatUint(n, 10) != number {
		return fmt.Errorf("stackhouse: %q is no number of an actor", part)
	}
	return nil
}

func checkSystem(name string) error {
	if name == "" || len(name) > nameMax {
		return fmt.Errorf("stackhouse: a name of a system has 1 to %d bytes", nameMax)
	}
	for _, c := range []byte(name) {
		if !alphanumeric(c) && !strings.ContainsRune("-_.", rune(c)) {
			return fmt.Errorf("stackhouse: the system's name %q has a byte that is no letter, digit, dot, - or _", name)
		}
	}
	return nil
}

// checkHost accepts a DNS name in small letters, an IPv4 address, or an IPv6 address in brackets
// and in its shortest form, so that equal hosts give equal paths.
func checkHost(host string) error {
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		inner, closed := strings.CutSuffix(inner, "]")
		if a, err := netip.ParseAddr(inner); closed && err == nil && a.Is6() && a.Zone() == "" && a.String() == inner {
			return nil
		}
		return fmt.Errorf("stackhouse: %q is no IPv6 address in its shortest form", host)
	}
	if host == "" || len(host) > hostMax {
		return fmt.Errorf("stackhouse: a host has 1 to %d bytes", hostMax)
	}
	for _, c := range []byte(host) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return fmt.Errorf("stackhouse: the host %q has a byte that is no small letter, digit, dot or -", host)
		}
	}
	return nil
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
