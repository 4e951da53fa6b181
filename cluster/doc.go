// Package cluster will join the systems of several processes: membership, links
// between nodes, and ports whose actor lives elsewhere. Nothing is here yet.
package cluster
