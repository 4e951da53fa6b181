package main

import "github.com/stackhouse-go/stackhouse/channel/resp"

// session is what the server knows of one connection. Its codec makes it and each request refers to
// it; it belongs to the front's worker, except cuts.
//
// A command changes it in its first step, and copies from it there what later steps need. So a
// change holds for the commands behind it, however they are pipelined, and for no other.
type session struct {
	id            int64
	began         int64 // Unix time, s
	version       resp.Version
	authenticated bool
	mute          bool // CLIENT REPLY OFF
	skip          bool // CLIENT REPLY SKIP: the next command
	noEvict       bool
	name          string

	owed  owed
	width width // of its pipelines
	order order
	_     [64]byte // cuts is written by stores
	cuts  cuts
}
