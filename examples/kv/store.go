package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/pool"
)

// store holds the keys of one part of the hash space.
type store struct {
	stores  *stores
	index   int
	table   *table.Table
	dice    dice
	scratch []byte // of one command
}

func newStore(c *stores, index int) *store {
	return &store{stores: c, index: index, table: table.New(table.Config{Seed: c.seed}), dice: dice(c.seed + uint64(index))}
}

// request is a command for a store: it takes effect on the keys that live there.
type request struct {
	do      func(t *store, s *storeStack) resp.Reply
	cmd     resp.Command
	bytes   pool.Bytes   // what cmd refers to
	version resp.Version // of elements that the store encodes
}

// Release implements stack.Releaser.
func (r *request) Release() { r.bytes.Release() }

// storeStack is one command at a store.
type storeStack struct {
	core.AskStack[request, resp.Reply]
}

// arg returns an argument of the command.
func (s *storeStack) arg(i int) []byte { return s.Req.cmd.Arg(i) }

var (
	storeDo     = core.Handle((*store).run)
	storeSweep  = core.HandleNotice((*store).sweep)
	storeAccept = core.HandleNotice((*store).accept)
)

func (t *store) run(s *storeStack) core.Yield {
	rep := s.Req.do(t, s)
	t.stores.memory.tell(t)
	return s.Return(rep)
}

// Replies and errors as Redis 7.0 gives them.
const (
	errSyntax  = "ERR syntax error"
	errInteger = "ERR value is not an integer or out of range"
	errFlow    = "ERR increment or decrement would overflow"
	errLarge   = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	errKind    = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNoKey   = "ERR no such key"
)

// refused is the reply to what the table doesn't do.
func refused(err error) resp.Reply {
	if err == table.ErrKind {
		return resp.Err(errKind)
	}
	return resp.Err(errLarge)
}

// yes is 1 for true.
func yes(b bool) resp.Reply {
	if b {
		return resp.Int(1)
	}
	return resp.Int(0)
}

// mine reports whether a key of a command on many keys lives here.
func (t *store) mine(key []byte) bool { return t.stores.of(key) == t.index }
