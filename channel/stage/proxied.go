package stage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Why connections of a proxy end.
var (
	errHeader     = errors.New("stage: a proxy's connection begins with no header that can be read")
	errHeaderTime = errors.New("stage: a proxy's header hasn't come in time")
)

const (
	// headerTime is how long a header may take: a proxy sends it at once, as its first bytes.
	headerTime = 5 * time.Second
	// textMax is the longest header of version 1, with its "\r\n".
	textMax = 107
	// prefixLen is what a header of version 2 begins with: a signature, what it is, how long it is.
	prefixLen = 16
)

var signature = []byte("\r\n\r\n\x00\r\nQUIT\n")

// proxied is the Stage of Proxied. It is
//
//	direct   from Open on, if no proxy has dialled: bytes pass
//	waiting  from Open on, otherwise: keeps what it has of the header
//	skipping the header has more than an address: skip bytes of it
//	told     the header is there: bytes pass
type proxied struct {
	by   []netip.Prefix
	told bool // or direct
	head []byte
	skip int
}

// Proxied returns a Stage of servers behind proxies, which say by the PROXY protocol, version 1 or
// 2, whose connection each is: then that is the address of its Peer. Only those whose own address
// is in one of the prefixes are believed, and their connections must begin with a header, within
// five seconds; others are taken as they are. It must be the first Stage.
//
// A connection of the proxy's own, such as a look at whether the server is well, keeps its address.
func Proxied(by ...netip.Prefix) Stage { return &proxied{by: by} }

func (p *proxied) Open(f *Flow) error {
	at, err := netip.ParseAddrPort(f.RemoteAddr())
	addr := at.Addr().Unmap()
	p.told = err != nil || !slices.ContainsFunc(p.by, func(by netip.Prefix) bool { return by.Contains(addr) })
	if !p.told {
		f.HoldOpening(true)
		f.Alarm(headerTime)
	}
	return nil
}

func (p *proxied) Tick(*Flow) error {
	if !p.told {
		return errHeaderTime
	}
	return nil
}

func (p *proxied) Receive(f *Flow, b []byte) error {
	for !p.told {
		if len(b) == 0 {
			return nil
		}
		if p.skip > 0 {
			n := min(p.skip, len(b))
			p.skip, b = p.skip-n, b[n:]
			p.tell(f, p.skip == 0)
			continue
		}
		p.head, b = append(p.head, b[0]), b[1:]
		if err := p.look(f); err != nil {
			return err
		}
	}
	f.Up(b)
	return nil
}

func (p *proxied) ReceiveEnd(*Flow) error {
	if !p.told {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// tell is the transition to told, if now is set.
func (p *proxied) tell(f *Flow, now bool) {
	if now {
		p.told, p.head = true, nil
		f.HoldOpening(false)
	}
}

// look looks whether the header is whole with its last byte.
func (p *proxied) look(f *Flow) error {
	n := len(p.head)
	if bytes.HasPrefix(signature, p.head[:min(n, len(signature))]) {
		return p.lookBinary(f)
	}
	const begin = "PROXY "
	switch {
	case string(p.head[:min(n, len(begin))]) != begin[:min(n, len(begin))]:
		return errHeader
	case p.head[n-1] != '\n' && n < textMax:
		return nil
	case n < len("\r\n") || string(p.head[n-2:]) != "\r\n":
		return errHeader
	}
	addr, err := readText(string(p.head[len(begin) : n-2]))
	if err != nil {
		return err
	}
	p.found(f, addr)
	p.tell(f, true)
	return nil
}

// found notes the address of the client; the zero one: it is the proxy's own.
func (p *proxied) found(f *Flow, addr netip.AddrPort) {
	if addr.IsValid() {
		f.SetRemoteAddr(addr.String())
	}
}

// readText reads what a header of version 1 says.
func readText(text string) (addr netip.AddrPort, err error) {
	word := strings.Split(text, " ")
	if word[0] == "UNKNOWN" {
		return addr, nil
	}
	if len(word) != 5 {
		return addr, errHeader
	}
	from, e1 := netip.ParseAddr(word[1])
	to, e2 := netip.ParseAddr(word[2])
	fromPort, e3 := readPort(word[3])
	_, e4 := readPort(word[4])
	known := word[0] == "TCP4" && from.Is4() && to.Is4() || word[0] == "TCP6" && from.Is6() && to.Is6()
	if errors.Join(e1, e2, e3, e4) != nil || !known || from.Zone() != "" || to.Zone() != "" {
		return addr, errHeader
	}
	return netip.AddrPortFrom(from.Unmap(), fromPort), nil
}

func readPort(text string) (uint16, error) {
	if len(text) > 1 && text[0] == '0' {
		return 0, errHeader
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err
}

// What the prefix of a header of version 2 says: version and command, family and protocol.
const (
	version2 = 0x2
	local    = 0x0 // the proxy's own connection
	proxy    = 0x1
	unspec   = 0x0
	inet     = 0x1
	inet6    = 0x2
	unix     = 0x3
)

// lookBinary is look for version 2.
func (p *proxied) lookBinary(f *Flow) error {
	n := len(p.head)
	if n < prefixLen {
		return nil
	}
	command, family, kind := p.head[12]&0xf, p.head[13]>>4, p.head[13]&0xf
	size := 0 // of the address of the client, as an IP
	switch {
	case p.head[12]>>4 != version2 || command > proxy || family > unix || kind > 2:
		return errHeader
	case command == local:
	case family == inet:
		size = 4
	case family == inet6:
		size = 16
	}
	need, all := 0, int(binary.BigEndian.Uint16(p.head[14:]))
	if size > 0 {
		need = 2*size + 4 // two addresses, two ports
	}
	switch {
	case all < need:
		return errHeader
	case n < prefixLen+need:
		return nil
	case size > 0:
		addr, _ := netip.AddrFromSlice(p.head[prefixLen : prefixLen+size])
		p.found(f, netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(p.head[prefixLen+2*size:])))
	}
	p.skip = all - need
	p.tell(f, p.skip == 0)
	return nil
}
