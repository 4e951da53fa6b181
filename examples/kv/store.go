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
	scratch []byte // for one command
	decoder resp.Decoder

	// Of one pipeline, or of one command.

	commands [pipelineMax]resp.Command
	hashes   [pipelineMax]uint64 // of the commands' keys
	replies  []byte
}

func newStore(c *stores, index int) *store {
	return &store{stores: c, index: index, table: table.New(table.Config{Seed: c.seed}), dice: dice(c.seed + uint64(index))}
}

// request is a command, or a share of a pipeline, for a store. It takes effect on the keys that the
// store holds.
type request struct {
	do       func(t *store, s *storeStack) resp.Reply // nil: the store does share of the pipeline
	pipeline pipeline
	share    share
	bytes    pool.Bytes   // the command, or the pipeline
	version  resp.Version // in which the store encodes
	cuts     *cuts        // of the connection; nil: the request is never put off
	epoch    uint32
}

// Release implements stack.Releaser.
func (r *request) Release() { r.bytes.Release() }

// storeStack is a request at a store.
type storeStack struct {
	core.AskStack[request, resp.Reply]
	cmd *resp.Command // the command that is being done, in store.commands
}

// arg returns an argument of the command.
func (s *storeStack) arg(i int) []byte { return s.cmd.Arg(i) }

// show returns value for a reply. In a pipeline the reply is encoded before the next command can
// change the table, so it needs no copy.
func (s *storeStack) show(value []byte) []byte {
	if s.Req.do == nil {
		return value
	}
	return s.Copy(value)
}

var (
	storeDo     = core.Handle((*store).run)
	storeSweep  = core.HandleNotice((*store).sweep)
	storeAccept = core.HandleNotice((*store).accept)
)

func (t *store) run(s *storeStack) core.Yield {
	var rep resp.Reply
	switch {
	case t.putsOff(&s.Req):
		return s.Return(notDone)
	case s.Req.do == nil:
		rep = t.doShare(s)
	default:
		s.cmd = &t.commands[0]
		t.decode(s.cmd, s.Req.bytes.B())
		rep = s.Req.do(t, s)
		t.forget(1)
		t.cut(&s.Req, len(rep.Str))
	}
	t.stores.memory.tell(t)
	return s.Return(rep)
}

// forget clears the first n commands, which refer to bytes of the request.
func (t *store) forget(n int) { clear(t.commands[:n]) }

// decode decodes in, which the front has decoded before.
func (t *store) decode(cmd *resp.Command, in []byte) {
	if n, err := t.decoder.Decode(in, cmd); n != len(in) || err != nil {
		t.decoder.Reset() // the next command doesn't continue this one
		panic("kv: a command that was decoded can't be")
	}
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

// refused is the reply for an error of the table.
func refused(err error) resp.Reply {
	if err == table.ErrKind {
		return resp.Err(errKind)
	}
	return resp.Err(errLarge)
}

// yes is the reply 1 or 0.
func yes(b bool) resp.Reply {
	if b {
		return resp.Int(1)
	}
	return resp.Int(0)
}

// mine reports whether this store holds the key, one of a command on many.
func (t *store) mine(key []byte) bool { return t.stores.of(key) == t.index }
