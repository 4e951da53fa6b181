package netio

import "net"

// resolve looks up a TCP address.
func resolve(network, address string) (*net.TCPAddr, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return net.ResolveTCPAddr(network, address)
	}
	return nil, errNetwork
}
