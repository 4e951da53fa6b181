package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
)

// keyOf is a key in one life of a sender.
type keyOf struct {
	name      string
	life, key uint64
}

// kept is a key of the model: it runs, or is done.
type kept struct {
	keyOf
	record *record
	reply  string
	fail   *frame.Fail
	at     int64
}

// repliesModel is replies as lists that are gone through.
type repliesModel struct {
	lives   map[string]uint64
	marks   map[string]uint64 // of the present life
	running []*kept
	done    []*kept
	most    int
}

func (m *repliesModel) of(k keyOf) *kept {
	for _, all := range [][]*kept{m.running, m.done} {
		for _, r := range all {
			if r.keyOf == k {
				return r
			}
		}
	}
	return nil
}

func (m *repliesModel) forget() {
	r := m.done[0]
	m.done = m.done[1:]
	if m.lives[r.name] == r.life {
		m.marks[r.name] = max(m.marks[r.name], r.key)
	}
}

// find returns what replies.find is to: a record, or an error, or neither if the key is new.
func (m *repliesModel) find(k keyOf, again bool, now int64) (*kept, error) {
	for len(m.done) > 0 && now-m.done[0].at >= replyTime {
		m.forget()
	}
	if k.life < m.lives[k.name] {
		return nil, core.ErrLost
	}
	if k.life > m.lives[k.name] {
		m.lives[k.name], m.marks[k.name] = k.life, 0
	}
	switch r := m.of(k); {
	case r != nil:
		return r, nil
	case again && k.key <= m.marks[k.name]:
		return nil, core.ErrLost
	case len(m.running) >= m.most:
		return nil, core.ErrOverloaded
	}
	runs := 0
	for _, r := range m.running {
		if r.name == k.name {
			runs++
		}
	}
	if runs >= max(1, m.most/runningPart) {
		return nil, core.ErrOverloaded
	}
	return nil, nil
}

// begins adds a key that find has found new.
func (m *repliesModel) begins(r *kept) {
	if m.running = append(m.running, r); len(m.running)+len(m.done) > m.most {
		m.forget()
	}
}

// TestG14Replies: keys of several senders, in several lives of them, in any order, again and again,
// against the model. What has run runs again only where the sender says that it never left.
func TestG14Replies(t *testing.T) {
	for seed := range uint64(seeds(2000)) {
		rng := rand.New(rand.NewPCG(seed, 14))
		b, m := newReplies(), &repliesModel{lives: map[string]uint64{}, marks: map[string]uint64{}, most: 1 + rng.IntN(1<<rng.IntN(6))}
		b.keysMax = m.most
		ran, now := map[keyOf]bool{}, int64(0)
		for range 300 {
			now += rng.Int64N(1 << rng.IntN(40))
			switch {
			case len(m.running) > 0 && rng.IntN(3) == 0:
				i := rng.IntN(len(m.running))
				r := m.running[i]
				m.running = append(m.running[:i:i], m.running[i+1:]...)
				r.reply, r.at = fmt.Sprint(r.key), now
				if rng.IntN(4) == 0 {
					r.reply, r.fail = "", &frame.Fail{Text: []byte("bad")}
				}
				b.end(r.record, []byte(r.reply), r.fail, now)
				m.done, ran[r.keyOf] = append(m.done, r), true
			default:
				k := keyOf{string(rune('a' + rng.IntN(3))), 1 + uint64(rng.IntN(1+rng.IntN(3))), 1 + uint64(rng.IntN(12))}
				again := rng.IntN(2) == 0
				want, wantErr := m.find(k, again, now)
				got, isNew, err := b.find(k.name, k.life, k.key, again, now)
				require.Equal(t, wantErr, err, "seed %d", seed)
				require.Equal(t, want == nil && err == nil, isNew, "seed %d", seed)
				switch {
				case isNew:
					require.False(t, again && ran[k], "seed %d: %v runs twice", seed, k)
					if rng.IntN(4) == 0 { // refused
						b.drop(got)
						break
					}
					b.begun()
					m.begins(&kept{keyOf: k, record: got})
				case err == nil:
					require.Same(t, want.record, got)
					require.Equal(t, want.reply, string(got.reply))
					require.Equal(t, want.fail, got.fail)
				}
			}
			require.Equal(t, len(m.running)+len(m.done), b.keys)
			bytes := 0
			for _, r := range m.done {
				if bytes += len(r.reply); r.fail != nil {
					bytes += len(r.fail.Text)
				}
			}
			require.Equal(t, bytes, b.bytes)
		}
	}
}

// TestReplyBytes: replies are kept as far as they take no more than their bound.
func TestReplyBytes(t *testing.T) {
	b := newReplies()
	for key := uint64(1); key <= 5; key++ {
		r, isNew, err := b.find("a", 1, key, false, 0)
		require.NoError(t, err)
		require.True(t, isNew)
		b.begun()
		b.end(r, make([]byte, replyBytesMax/4), nil, 0)
	}
	require.Equal(t, 4, b.keys)
	_, _, err := b.find("a", 1, 1, true, 0)
	require.Equal(t, core.ErrLost, err)
	_, isNew, err := b.find("a", 1, 2, true, 0)
	require.NoError(t, err)
	require.False(t, isNew)

	r, _, err := b.find("a", 1, 6, false, 0) // for which more than one has to go
	require.NoError(t, err)
	b.begun()
	b.end(r, make([]byte, replyBytesMax/2), nil, 0)
	require.Equal(t, 3, b.keys)
	require.LessOrEqual(t, b.bytes, replyBytesMax)
}

// TestBytesOfFailures: what an ask has failed with is kept within the same bound, with its name,
// and is given back when it is forgotten.
func TestBytesOfFailures(t *testing.T) {
	b := newReplies()
	for i, fail := range []*frame.Fail{{Text: []byte("text")}, {Text: []byte("text"), Name: []byte("name")}, {Code: 3}} {
		r, _, err := b.find("a", 1, uint64(i), false, 0)
		require.NoError(t, err)
		b.begun()
		b.end(r, nil, fail, 0)
	}
	require.Equal(t, 12, b.bytes)
	for b.forget() {
	}
	require.Zero(t, b.bytes)
}

// TestForgottenLife: a life whose sender was forgotten doesn't run a key again, though a word of an
// earlier life comes in between, and so it looks like the next life of one that is known.
func TestForgottenLife(t *testing.T) {
	b := newReplies()
	r, _, err := b.find("a", 3, 5, false, 0)
	require.NoError(t, err)
	b.begun()
	b.end(r, nil, nil, 0)
	require.True(t, b.forget())
	require.True(t, b.forgetSender())
	r, isNew, err := b.find("a", 2, 9, false, 1) // it was under way for long
	require.NoError(t, err)
	require.True(t, isNew)
	b.drop(r)
	_, isNew, err = b.find("a", 3, 5, true, 2)
	require.Equal(t, core.ErrLost, err)
	require.False(t, isNew)
	_, isNew, err = b.find("a", 3, 6, true, 2)
	require.NoError(t, err)
	require.True(t, isNew)
	_, _, err = b.find("a", 2, 10, false, 3)
	require.Equal(t, core.ErrLost, err, "of a life that is over")
}

// TestForgottenSenders: of so many nodes that the first one is forgotten. Its tries that may have
// run don't run again, though it has asked for something else meanwhile; what has never left runs.
func TestForgottenSenders(t *testing.T) {
	b := newReplies()
	for i := range sendersMax + 1 {
		r, _, err := b.find(fmt.Sprint(i), 1, 1, false, int64(i))
		require.NoError(t, err)
		if i == 0 {
			b.end(r, nil, nil, 0)
			b.forget()
		} else {
			b.drop(r)
		}
	}
	require.Len(t, b.senders, sendersMax)
	_, isNew, err := b.find("0", 1, 1, true, 0)
	require.Equal(t, core.ErrLost, err)
	require.False(t, isNew)
	require.NotContains(t, b.senders, "0", "it takes the place of another one")
	_, isNew, err = b.find("0", 1, 2, false, 0)
	require.NoError(t, err)
	require.True(t, isNew)
	_, _, err = b.find("0", 1, 1, true, 0)
	require.Equal(t, core.ErrLost, err)
	_, isNew, err = b.find("5", 1, 1, true, 0) // known: it hasn't come
	require.NoError(t, err)
	require.True(t, isNew)
	_, isNew, err = b.find("new", 1, 1, false, 0)
	require.NoError(t, err)
	require.True(t, isNew)
}

// TestSendersWithKeysStay: the one that has asked for nothing for longest is forgotten, of those of
// which nothing runs or is done. If there is none a new one is refused.
func TestSendersWithKeysStay(t *testing.T) {
	b := newReplies()
	for i := range sendersMax {
		r, _, err := b.find(fmt.Sprint(i), 1, 1, false, int64(i))
		require.NoError(t, err)
		switch i { // of the others it runs
		case 1:
			b.end(r, nil, nil, 1)
		case 2, 3, 4:
			b.drop(r)
		}
	}
	for i := 2; i <= 4; i++ {
		_, isNew, err := b.find(fmt.Sprint("new", i), 1, 1, false, sendersMax)
		require.NoError(t, err)
		require.True(t, isNew)
		require.Len(t, b.senders, sendersMax)
		require.NotContains(t, b.senders, fmt.Sprint(i))
	}
	_, isNew, err := b.find("newest", 1, 1, false, sendersMax)
	require.Equal(t, core.ErrOverloaded, err)
	require.False(t, isNew)
	require.NotContains(t, b.senders, "newest")
	for _, name := range []string{"0", "1"} {
		_, isNew, err := b.find(name, 1, 1, true, sendersMax)
		require.NoError(t, err)
		require.False(t, isNew)
	}
}

// TestSendersInUseStay: of two without keys it is the one that has come last that stays, whichever
// came first. One stays, too, of whose earlier life a key runs.
func TestSendersInUseStay(t *testing.T) {
	b := newReplies()
	comes := func(name string, life uint64, now int64) *record {
		r, isNew, err := b.find(name, life, 1, false, now)
		require.NoError(t, err)
		require.True(t, isNew)
		return r
	}
	runs := comes("c", 1, 0)
	for i, name := range []string{"a", "b", "a"} {
		b.drop(comes(name, 1, int64(i)))
	}
	b.drop(comes("c", 2, 0))
	require.True(t, b.forgetSender())
	require.NotContains(t, b.senders, "b")
	require.True(t, b.forgetSender())
	require.NotContains(t, b.senders, "a")
	require.False(t, b.forgetSender())
	b.drop(runs)
	require.True(t, b.forgetSender())
}

// TestForgottenWhileItIsSaid: an answer that waits to be written is forgotten, and is said all the
// same.
func TestForgottenWhileItIsSaid(t *testing.T) {
	b := newReplies()
	one, _, err := b.find("a", 1, 1, false, 0)
	require.NoError(t, err)
	b.begun()
	b.end(one, []byte("it"), nil, 0)
	other, _, err := b.find("a", 1, 2, false, replyTime)
	require.NoError(t, err)
	b.begun()
	b.end(other, nil, &frame.Fail{Text: []byte("bad")}, replyTime)
	_, _, err = b.find("a", 1, 3, false, 2*replyTime)
	require.NoError(t, err)
	require.Nil(t, b.oldest)
	require.Equal(t, "it", string(one.reply))
	require.Equal(t, "bad", string(other.fail.Text))
}
