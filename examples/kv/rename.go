package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// RENAME within one store is one call of its table. To another store the value is taken out and
// sent as a notice: a notice has no deadline and can't be cancelled, so the value arrives whatever
// becomes of the client. It is in the mailbox of the other store before the client has its answer,
// so any command sent after that answer finds the new key. In between neither key is found.

// rename is RENAME from to.
func (f *front) rename(s *command) core.Yield {
	return f.askOne(s, f.stores.of(s.Req.Arg(1)), (*store).rename)
}

// rename is RENAME at the store of from.
func (t *store) rename(s *storeStack) resp.Reply {
	to := t.stores.of(s.arg(2))
	if to != t.index {
		return t.send(s, to)
	}
	switch ok, err := t.table.Rename(s.arg(1), s.arg(2), core.Now(s)); {
	case err != nil:
		return refused(err)
	case !ok:
		return resp.Err(errNoKey)
	}
	return resp.OK()
}

// parcel is a value that moves to another store, with its new key.
type parcel struct {
	key, value pool.Bytes
	dump       table.Dump
}

// Release implements stack.Releaser.
func (p *parcel) Release() {
	p.key.Release()
	p.value.Release()
}

// send moves a key to another store, under its new name.
func (t *store) send(s *storeStack, to int) resp.Reply {
	shard := &stack.Of(s).Engine().Shard
	var p parcel
	var ok bool
	p.dump, ok = t.table.Dump(s.arg(1), core.Now(s), func(n int) []byte {
		p.value = shard.Bytes(n)
		return p.value.B()
	})
	if !ok {
		return resp.Err(errNoKey)
	}
	p.key = shard.Copy(s.arg(2))
	t.stores.doors[to].Notice(s, p)
	t.table.Delete(s.arg(1), core.Now(s))
	return resp.OK()
}

// parcelStack is the arrival of a parcel.
type parcelStack struct {
	core.NoticeStack[parcel]
}

// accept takes in a key from another store.
func (t *store) accept(s *parcelStack) core.Yield {
	if err := t.table.Load(s.Msg.key.B(), s.Msg.dump); err != nil {
		return s.Throw(err)
	}
	t.stores.memory.tell(t)
	return s.Return()
}

// renameNX is RENAMENX from to, which is refused if to exists. With two stores it looks first and
// renames then: if another connection makes the key in between it is overwritten.
func (f *front) renameNX(s *command) core.Yield {
	from, to := f.stores.of(s.Req.Arg(1)), f.stores.of(s.Req.Arg(2))
	if from == to {
		return f.askOne(s, from, (*store).renameNX)
	}
	f.stores.ports[from].Ask(s, &s.parts[0], f.request(s, (*store).hasFrom))
	f.stores.ports[to].Ask(s, &s.parts[1], f.request(s, (*store).hasTo))
	return core.Suspend(s, (*front).renameFree)
}

// renameFree goes on when the front knows which of the two keys exist.
func (f *front) renameFree(s *command) core.Yield {
	from, err := s.parts[0].Get()
	to, errTo := s.parts[1].Get()
	switch {
	case err != nil:
		return s.fail(err)
	case errTo != nil:
		return s.fail(errTo)
	case from.Int == 0:
		return s.answer(resp.Err(errNoKey))
	case to.Int != 0:
		return s.answer(resp.Int(0))
	}
	f.stores.ports[f.stores.of(s.Req.Arg(1))].Ask(s, &s.reply, f.request(s, (*store).rename))
	return core.Suspend(s, (*front).renamedNX)
}

func (f *front) renamedNX(s *command) core.Yield {
	rep, err := s.reply.Get()
	switch {
	case err != nil:
		return s.fail(err)
	case rep.Kind == resp.KindError:
		return s.answer(rep)
	}
	return s.answer(resp.Int(1))
}

func (t *store) hasFrom(s *storeStack) resp.Reply { return yes(t.table.Exists(s.arg(1), core.Now(s))) }
func (t *store) hasTo(s *storeStack) resp.Reply   { return yes(t.table.Exists(s.arg(2), core.Now(s))) }

// renameNX is RENAMENX where one store holds both keys.
func (t *store) renameNX(s *storeStack) resp.Reply {
	now := core.Now(s)
	if !t.table.Exists(s.arg(1), now) {
		return resp.Err(errNoKey)
	}
	if t.table.Exists(s.arg(2), now) {
		return resp.Int(0)
	}
	if _, err := t.table.Rename(s.arg(1), s.arg(2), now); err != nil {
		return refused(err)
	}
	return resp.Int(1)
}

// msetNX is MSETNX, which sets nothing if one of the keys exists. With several stores it looks
// first and sets then, as renameNX does.
func (f *front) msetNX(s *command) core.Yield {
	at, one := f.stores.ofAll(&s.Req.Command)
	if one {
		return f.askOne(s, at, (*store).msetNX)
	}
	s.asked = all(f.stores.len())
	return f.askAll(s, (*store).present, (*front).msetFree)
}

// msetFree goes on when the front knows how many of the keys exist.
func (f *front) msetFree(s *command) core.Yield {
	rep, failed := f.failed(s)
	if !failed && f.total(s) == 0 {
		return f.askAll(s, (*store).mset, (*front).msetDone)
	}
	if failed {
		return s.answer(rep)
	}
	return s.answer(resp.Int(0))
}

func (f *front) msetDone(s *command) core.Yield {
	if rep, failed := f.failed(s); failed {
		return s.answer(rep)
	}
	return s.answer(resp.Int(1))
}

// present counts the keys of an MSETNX that belong to this store and exist.
func (t *store) present(s *storeStack) resp.Reply {
	now, n := core.Now(s), int64(0)
	words := s.cmd.Args(1)
	for key, ok := words.Next(); ok; key, ok = words.Next() {
		words.Next()
		if t.mine(key) && t.table.Exists(key, now) {
			n++
		}
	}
	return resp.Int(n)
}

// msetNX is MSETNX where one store holds all keys.
func (t *store) msetNX(s *storeStack) resp.Reply {
	if t.present(s).Int > 0 {
		return resp.Int(0)
	}
	if rep := t.mset(s); rep.Kind == resp.KindError {
		return rep
	}
	return resp.Int(1)
}
