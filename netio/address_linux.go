//go:build !portable

package netio

import (
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// LocalAddr returns the address of fd's own end: host:port, a path, "@name", or "" if it has none.
// Any goroutine may call it while fd is open.
func LocalAddr(fd int) string {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return ""
	}
	return text(sa)
}

// RemoteAddr returns the address of fd's other end, in LocalAddr's form. It is "" once the
// connection is gone.
func RemoteAddr(fd int) string {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return ""
	}
	return text(sa)
}

// sockaddr returns a in the kernel's form. If a has no host the address is of IPv4 if any4 is true,
// of IPv6 otherwise.
func sockaddr(a *net.TCPAddr, any4 bool) (unix.Sockaddr, error) {
	ip := a.AddrPort().Addr().Unmap()
	switch {
	case ip.Is4():
		return &unix.SockaddrInet4{Port: a.Port, Addr: ip.As4()}, nil
	case ip.Is6():
		zone, err := zoneID(a.Zone)
		return &unix.SockaddrInet6{Port: a.Port, Addr: ip.As16(), ZoneId: zone}, err
	case any4:
		return &unix.SockaddrInet4{Port: a.Port}, nil
	}
	return &unix.SockaddrInet6{Port: a.Port}, nil
}

func zoneID(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, err
	}
	return uint32(i.Index), nil
}

func family(sa unix.Sockaddr) int {
	switch sa.(type) {
	case *unix.SockaddrInet4:
		return unix.AF_INET
	case *unix.SockaddrInet6:
		return unix.AF_INET6
	}
	return unix.AF_UNIX
}

func text(sa unix.Sockaddr) string {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr).Unmap()
		if a.ZoneId != 0 && ip.Is6() {
			ip = ip.WithZone(zoneName(a.ZoneId))
		}
		return netip.AddrPortFrom(ip, uint16(a.Port)).String()
	case *unix.SockaddrUnix:
		if a.Name == "@" {
			return "" // unnamed, as every connecting end is
		}
		return a.Name
	}
	return ""
}

func zoneName(id uint32) string {
	if i, err := net.InterfaceByIndex(int(id)); err == nil {
		return i.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}
