// Package count has the numbers of the counters of a worker in its stat.Group. Users see the
// counters as the fields of house.Stats.
package count
