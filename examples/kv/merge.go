package main

import (
	"bytes"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// Functions by which a front puts the replies of all stores together; merged has looked for errors
// before.

// sum adds integers.
func (f *front) sum(s *command) resp.Reply { return resp.Int(f.total(s)) }

func (f *front) total(s *command) (n int64) {
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		n += rep.Int
	}
	return n
}

func (f *front) allOK(s *command) resp.Reply { return resp.OK() }

// concat makes one array of the encoded elements of all stores; each reply has their number.
func (f *front) concat(s *command) resp.Reply {
	size := frameMax
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		size += len(rep.Str)
	}
	out := resp.AppendArray(s.Bytes(size)[:0], int(f.total(s)))
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		out = append(out, rep.Str...)
	}
	return resp.Raw(out)
}

// pick chooses one of the keys that the stores have chosen, each with the odds of its number of
// keys.
func (f *front) pick(s *command) resp.Reply {
	n := f.total(s)
	if n == 0 {
		return resp.Nil()
	}
	left := int64(f.dice.below(uint64(n)))
	var chosen resp.Reply
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		if rep.Int > 0 {
			chosen = rep
		}
		if left -= rep.Int; left < 0 {
			break
		}
	}
	return resp.Bulk(chosen.Str)
}

// interleave brings the values of all stores into the order of their keys. Each store has answered
// the encoded values of its keys, in order.
func (f *front) interleave(s *command) resp.Reply {
	var rest [storesMax][]byte
	size := frameMax
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		rest[i] = rep.Str
		size += len(rep.Str)
	}
	out := resp.AppendArray(s.Bytes(size)[:0], s.Req.Len()-1)
	keys := s.Req.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		i := f.stores.of(key)
		n := bulkLen(rest[i])
		out = append(out, rest[i][:n]...)
		rest[i] = rest[i][n:]
	}
	return resp.Raw(out)
}

// bulkLen returns the length of the bulk string, or nil, at the start of b, which mget has encoded.
func bulkLen(b []byte) int {
	end := bytes.IndexByte(b, '\n') + 1
	n, ok := resp.ParseInt(b[1 : end-2])
	if !ok || n < 0 { // nil of version 3, of version 2
		return end
	}
	return end + int(n) + 2
}
