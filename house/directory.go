package house

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
)

// directory is the houses of a system that have names, by path. Asks by name look there for each
// message, on all workers: so it is divided into stripes by a hash of the path.
type directory struct {
	seed    maphash.Seed
	stripes [directoryStripes]stripe
}

// directoryStripes is many times the number of workers, so that two workers are seldom at one
// stripe.
const directoryStripes = 64

type stripe struct {
	mu     sync.RWMutex
	houses map[string]*stack.House // nil: no house had a name yet

	_ [96]byte // so that stripes don't share a pair of cache lines
}

// localMax is the greatest length of the path of an actor at the top.
const localMax = len("/"+path.User+"/") + 255

func (d *directory) stripe(local []byte) *stripe {
	return &d.stripes[maphash.Bytes(d.seed, local)%directoryStripes]
}

// find returns the house at a path; nil: there is none.
func (d *directory) find(local []byte) *stack.House {
	s := d.stripe(local)
	s.mu.RLock()
	h := s.houses[string(local)]
	s.mu.RUnlock()
	return h
}

// findTop is find for an actor at the top whose name has two parts, as in "order.42". An id with a
// slash finds nothing, as it would lead to a child.
func (d *directory) findTop(kind, id string) *stack.House {
	if strings.IndexByte(id, '/') >= 0 {
		return nil
	}
	var buf [localMax]byte
	local := append(buf[:0], "/"+path.User+"/"...)
	local = append(append(append(local, kind...), '.'), id...)
	return d.find(local)
}

// claim has h, which enter gives its owner, stand at its path, unless another house does: it
// returns that; or h itself, if there are as many of its kind as there may be. A house is counted
// while the stripe is locked: so one that makes a kind full is found, by whoever has seen that it
// is full.
func (d *directory) claim(h *stack.House, enter func() (lives bool)) (taken *stack.House) {
	local := h.Local()
	s := d.stripe([]byte(local))
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken = s.houses[local]; taken != nil {
		return taken
	}
	if !h.Quota().Join() {
		return h
	}
	if enter() { // otherwise h is closed, and has left its quota
		if s.houses == nil {
			s.houses = map[string]*stack.House{}
		}
		s.houses[local] = h
	}
	return nil
}

// leave frees the path of h.
func (d *directory) leave(h *stack.House) {
	local := h.Local()
	s := d.stripe([]byte(local))
	s.mu.Lock()
	delete(s.houses, local)
	s.mu.Unlock()
}
