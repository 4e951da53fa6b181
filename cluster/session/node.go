package session

// Node is one life of a node.
type Node struct {
	Name        string
	Incarnation uint64 // 0: not known yet
}

func (n Node) less(m Node) bool {
	return n.Name < m.Name || n.Name == m.Name && n.Incarnation < m.Incarnation
}
