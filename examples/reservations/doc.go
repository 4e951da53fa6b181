// Reservations is an HTTP service that reserves pieces of stock, and loses none: what it has
// answered is on disk, once. It shows how an actor shares one write to a store among all who wait
// for it. README.md says how to run it, and how that is shown.
//
// Package ledger is the business, store the disk, service the actors and the HTTP API, client its
// other end. Program load is the load generator, and program proof kills and starves a service
// and looks whether anything is lost.
package main
