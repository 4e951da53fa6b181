package netio

import "net"

// resolve looks a TCP address up.
func resolve(network, address string) (*net.TCPAddr, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return net.ResolveTCPAddr(network, address)
	}
	return nil, errNetwork
}
