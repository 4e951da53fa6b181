package main

import (
	"context"
	"runtime"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

var debugCommands = []entry{
	{name: "debug|gc", least: 2, most: 2, run: (*front).debugGC},
	{name: "debug|help", least: 2, most: 2, run: help(
		"DEBUG <subcommand>. Subcommands are:",
		"GC",
		"    Run the garbage collector and return how many microseconds it took.",
		"HELP",
		"    Print this help.")},
}

// debugGC is DEBUG GC. A collection blocks the goroutine that asks for it, so a worker must not.
func (f *front) debugGC(s *command) core.Yield {
	core.Offload(s, &s.reply, struct{}{}, collect)
	return core.Suspend(s, (*front).answered)
}

// collect runs a collection to its end.
func collect(context.Context, struct{}) (resp.Reply, error) {
	began := time.Now()
	runtime.GC()
	return resp.Int(time.Since(began).Microseconds()), nil
}
