package channel

import (
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
)

// chunkSize is the bytes of one slab of output; a socket takes several slabs in one write.
const chunkSize = 16 << 10

// chunk is one slab of output; the unsent bytes are data.B()[sent:data.Len()].
type chunk struct {
	data   pool.Bytes
	sent   int
	shared bool // others read data too: nothing is appended to it
}

// next is the unsent bytes of the chunk, most at most.
func (c *chunk) next(most int) []byte {
	b := c.data.B()[c.sent:]
	return b[:min(len(b), most)]
}

// output is the bytes of a connection that wait to be sent, in order. The chunks are a queue in a
// slice that is reused: it grows to what the connection needs.
type output struct {
	chunks []chunk
	first  int // chunks[:first] are sent
	unsent int // bytes
}

// reserve returns room for n bytes behind the queued ones: a slice of length 0. The caller appends
// to it and calls commit.
func (o *output) reserve(s *pool.Shard, n int) []byte {
	if o.first < len(o.chunks) {
		last := &o.chunks[len(o.chunks)-1]
		// a slab beyond SlabMax gets no more results, and is released once it is sent
		if room := last.data.Cap() - last.data.Len(); room >= n && last.data.Cap() <= pool.SlabMax && !last.shared {
			return last.data.Grow(last.data.Cap()).B()[last.data.Len():last.data.Len()]
		}
	}
	b := s.Bytes(max(chunkSize, n))
	o.push(chunk{data: b.Grow(0)})
	return b.Grow(b.Cap()).B()[:0]
}

// push queues a chunk behind the others.
func (o *output) push(c chunk) {
	if o.first > 0 && len(o.chunks) == cap(o.chunks) {
		n := copy(o.chunks, o.chunks[o.first:])
		clear(o.chunks[n:])
		o.chunks, o.first = o.chunks[:n], 0
	}
	o.chunks = append(o.chunks, c)
}

// shareMin is the length from which on bytes that several connections send aren't copied: a chunk
// of its own costs about as much as a copy of so many.
const shareMin = 1 << 10

// share queues b, which others may send too, behind the queued bytes.
func (o *output) share(s *pool.Shard, b pool.Bytes) {
	switch n := b.Len(); {
	case n >= shareMin:
		o.push(chunk{data: b.Retain(), shared: true})
		o.unsent += n
	case n > 0:
		o.commit(append(o.reserve(s, n), b.B()...))
	}
}

// commit queues room, the slice that reserve returned last with what was appended to it.
func (o *output) commit(room []byte) {
	last := &o.chunks[len(o.chunks)-1]
	have := last.data.Len()
	if have+len(room) > last.data.Cap() {
		panic("channel: Encode appended more than Size said")
	}
	last.data = last.data.Grow(have + len(room))
	if len(room) > 0 && &room[0] != &last.data.B()[have] {
		panic("channel: Encode returned other bytes than those it was to append to")
	}
	if o.unsent += len(room); o.unsent == 0 {
		o.drop() // nothing is unsent: no send would release the chunk
	}
}

// join queues all of other, of which nothing was sent, behind the rest.
func (o *output) join(other *output) {
	o.chunks = append(o.chunks, other.chunks...)
	o.unsent += other.unsent
	clear(other.chunks)
	*other = output{chunks: other.chunks[:0]}
}

// send writes to fd, by p, as much as the socket takes, most bytes at most.
func (o *output) send(p *netio.Poller, fd int, iov *netio.IOVecs, most int) error {
	for o.unsent > 0 && most > 0 {
		n, err := o.write(p, fd, iov, most)
		o.sent(n)
		most -= n
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *output) write(p *netio.Poller, fd int, iov *netio.IOVecs, most int) (int, error) {
	if o.first == len(o.chunks)-1 {
		return p.Write(fd, o.chunks[o.first].next(most))
	}
	iov.Reset()
	for i := o.first; i < len(o.chunks) && most > 0; i++ {
		b := o.chunks[i].next(most)
		if !iov.Add(b) {
			break
		}
		most -= len(b)
	}
	n, err := p.Writev(fd, iov)
	iov.Reset() // iov would keep long results from the pool
	return n, err
}

// sent drops n bytes from the front, and releases chunks that are sent.
func (o *output) sent(n int) {
	o.unsent -= n
	for o.first < len(o.chunks) {
		c := &o.chunks[o.first]
		left := c.data.Len() - c.sent
		if n < left {
			c.sent += n
			return
		}
		n -= left
		c.data.Release()
		*c = chunk{}
		o.first++
	}
	o.chunks, o.first = o.chunks[:0], 0
}

// drop releases all chunks.
func (o *output) drop() {
	for i := range o.chunks {
		o.chunks[i].data.Release()
		o.chunks[i] = chunk{}
	}
	*o = output{chunks: o.chunks[:0]}
}
