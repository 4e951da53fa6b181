// Package count is what a worker counts: the numbers of its counters, in one stat.Group. Users see
// them as the fields of house.Stats.
package count
