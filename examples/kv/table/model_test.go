package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// tiny makes rare branches common: segments of a few blocks, entries of
// 65 bytes that are large, an index that is always being resized.
var tiny = Config{SegmentBytes: 256, IndexMin: 8, KeyMax: 40, ValueMax: 700, PackedFields: 5, PackedBytes: 30}

// reference is the trivially correct table.
type reference map[string]referenceEntry

type referenceEntry struct {
	value    string
	expireAt int64
	kind     Kind
	fields   []pair // of a hash, in order
}

type pair struct{ name, value string }

// field returns where a field is, -1 if it isn't.
func (e referenceEntry) field(name string) int {
	return slices.IndexFunc(e.fields, func(p pair) bool { return p.name == name })
}

func (e referenceEntry) past(now int64) bool { return e.expireAt != 0 && e.expireAt <= now }

// reach is what looking for a key does: one that expired goes away.
func (r reference) reach(key string, now int64) (referenceEntry, bool) {
	e, ok := r[key]
	if ok && e.past(now) {
		delete(r, key)
		return referenceEntry{}, false
	}
	return e, ok
}

// play runs a script of bytes against a table and the reference.
type play struct {
	script []byte
	now    int64
	mode   byte
	keys   int // how many different ones are used
	t      *Table
	r      reference
}

func newPlay(c Config, script []byte) *play {
	return &play{script: script, now: 1, keys: 16, t: New(c), r: reference{}}
}

func (p *play) byte() byte {
	if len(p.script) == 0 {
		return 0
	}
	b := p.script[0]
	p.script = p.script[1:]
	return b
}

func (p *play) key() []byte {
	n := (int(p.byte())<<8 | int(p.byte())) % p.keys
	switch {
	case n == 0:
		return nil
	case n%64 == 63:
		return fmt.Appendf(nil, "a key too long for the limit of the table %d", n)
	default:
		return fmt.Appendf(nil, "%0*d", 1+n%7, n)
	}
}

// present returns a key that is there, if there is one.
func (p *play) present() []byte {
	slots := p.t.index.main
	for i, at := 0, int(p.byte())<<8|int(p.byte()); i < 64; i++ {
		if s := slots[(at+i)%len(slots)]; s.at != 0 {
			return slices.Clone(p.t.arena.block(s.at).key())
		}
	}
	return p.key()
}

// value is mostly short, sometimes large, seldom too large, and sometimes memory of
// the table itself.
func (p *play) value() []byte {
	n := int(p.byte())
	switch {
	case n >= 252:
		n = 650 + (n-252)*25
	case n >= 230:
		n = (n - 230) * 29
	case n >= 215:
		key := p.key()
		p.r.reach(string(key), p.now)
		v, ok := p.t.Get(key, p.now)
		if ok && n&1 == 0 {
			v = v[len(v)/2:]
		}
		return v
	default:
		n %= 48
	}
	v := make([]byte, n)
	for i := range v {
		v[i] = byte(n + i*len(p.script))
	}
	return v
}

func (p *play) deadline() int64 {
	if b := int64(p.byte()); b >= 128 {
		return max(1, p.now+b-140)
	}
	return 0
}

// step runs one operation and returns what differed.
func (p *play) step() error {
	op := p.byte()
	if op == 255 && p.byte() < 8 {
		p.mode = p.byte() % 4
		p.keys = []int{16, 200, 1000, 4000}[p.byte()%4]
		return nil
	}
	switch p.mode {
	case 1: // fill
		if op < 200 {
			return p.set()
		}
	case 2: // drain
		if op < 200 {
			return p.delete(p.present())
		}
		if op < 220 {
			return p.expireSome()
		}
	}
	switch op % 20 {
	case 0, 1:
		return p.set()
	case 2, 3:
		return p.setFlags()
	case 4:
		return p.delete(p.key())
	case 5:
		return p.append()
	case 6:
		return p.expire()
	case 7:
		return p.persist()
	case 8:
		p.now += int64(p.byte() % 16)
		return p.expireSome()
	case 9:
		if p.byte() == 7 && p.byte() < 64 {
			p.t.Clear()
			clear(p.r)
		}
		return nil
	case 10, 11, 12:
		return p.setField()
	case 13:
		return p.deleteField()
	case 14:
		return p.setRange()
	case 15:
		return p.rename()
	case 16:
		return p.move()
	default:
		return p.get()
	}
}

func (p *play) get() error {
	key := p.key()
	want, wantOK := p.r.reach(string(key), p.now)
	if at, ok := p.t.ExpireAt(key, p.now); at != want.expireAt || ok != wantOK {
		return fmt.Errorf("ExpireAt(%q) = %d, %v, want %d, %v", key, at, ok, want.expireAt, wantOK)
	}
	if kind, ok := p.t.Kind(key, p.now); kind != want.kind || ok != wantOK {
		return fmt.Errorf("Kind(%q) = %d, %v, want %d, %v", key, kind, ok, want.kind, wantOK)
	}
	if got, kind, ok := p.t.Look(key, p.now); string(got) != want.value || kind != want.kind || ok != wantOK {
		return fmt.Errorf("Look(%q) = %x, %d, %v, want %x, %d, %v", key, got, kind, ok, want.value, want.kind, wantOK)
	}
	wantOK = wantOK && !want.kind.IsHash()
	if got, ok := p.t.Get(key, p.now); string(got) != want.value || ok != wantOK {
		return fmt.Errorf("Get(%q) = %x, %v, want %x, %v", key, got, ok, want.value, wantOK)
	}
	return nil
}

func (p *play) tooLarge(key []byte, n int) bool { return len(key) > p.t.keyMax || n > p.t.valueMax }

func (p *play) set() error {
	key, value, at := p.key(), p.value(), p.deadline()
	want := string(value)
	err := p.t.Set(key, value, at)
	if p.tooLarge(key, len(want)) {
		return expect(err, ErrTooLarge, "Set", key)
	}
	p.r[string(key)] = referenceEntry{value: want, expireAt: at}
	return expect(err, nil, "Set", key)
}

func (p *play) setFlags() error {
	key, value, at, flags := p.key(), p.value(), p.deadline(), Flags(p.byte()%16)
	want := string(value)
	stored, err := p.t.SetFlags(key, value, at, flags, p.now)
	if p.tooLarge(key, len(want)) {
		return expect(err, ErrTooLarge, "SetFlags", key)
	}
	e, present := p.r[string(key)]
	present = present && !e.past(p.now)
	should := !(present && flags&IfAbsent != 0) && !(!present && flags&IfPresent != 0)
	if stored != should {
		return fmt.Errorf("SetFlags(%q, %b) stored %v, want %v", key, flags, stored, should)
	}
	if should {
		if present && flags&KeepTTL != 0 {
			at = e.expireAt
		}
		p.r[string(key)] = referenceEntry{value: want, expireAt: at, kind: Kind(flags / AsText)}
	}
	return expect(err, nil, "SetFlags", key)
}

func (p *play) append() error {
	key, suffix := p.key(), p.value()
	e, ok := p.r[string(key)]
	if ok && e.past(p.now) {
		e = referenceEntry{}
	}
	if e.kind.IsHash() {
		_, err := p.t.Append(key, suffix, p.now)
		return expect(err, ErrKind, "Append", key)
	}
	if ok && !p.r[string(key)].past(p.now) {
		e.kind = Edited
	}
	e.value += string(suffix)
	n, err := p.t.Append(key, suffix, p.now)
	if p.tooLarge(key, len(e.value)) {
		return expect(err, ErrTooLarge, "Append", key)
	}
	if n != len(e.value) {
		return fmt.Errorf("Append(%q) = %d, want %d", key, n, len(e.value))
	}
	p.r[string(key)] = e
	return expect(err, nil, "Append", key)
}

func (p *play) delete(key []byte) error {
	_, want := p.r.reach(string(key), p.now)
	delete(p.r, string(key))
	if got := p.t.Delete(key, p.now); got != want {
		return fmt.Errorf("Delete(%q) = %v, want %v", key, got, want)
	}
	return nil
}

func (p *play) expire() error {
	key, at := p.key(), p.deadline()
	e, want := p.r.reach(string(key), p.now)
	if want {
		e.expireAt = at
		p.r[string(key)] = e
		p.r.reach(string(key), p.now)
	}
	if got := p.t.Expire(key, at, p.now); got != want {
		return fmt.Errorf("Expire(%q, %d) = %v, want %v", key, at, got, want)
	}
	return nil
}

func (p *play) persist() error {
	key := p.key()
	e, ok := p.r.reach(string(key), p.now)
	want := ok && e.expireAt != 0
	if ok {
		e.expireAt = 0
		p.r[string(key)] = e
	}
	if got := p.t.Persist(key, p.now); got != want {
		return fmt.Errorf("Persist(%q) = %v, want %v", key, got, want)
	}
	return nil
}

// expireSome lets the table choose which entries go, and looks that they may.
func (p *play) expireSome() error {
	n := int(p.byte() % 32)
	before, count := p.t.Stats(), p.t.deadlines.count
	looked, expired := p.t.ExpireSome(n, p.now)
	if looked != min(n, count) || p.t.Len() != before.Keys-expired || p.t.Stats().Expired != before.Expired+uint64(expired) {
		return fmt.Errorf("ExpireSome(%d) = %d, %d with %d deadlines", n, looked, expired, count)
	}
	for key, e := range p.r {
		if s, _ := p.t.find([]byte(key), p.t.hasher.hash([]byte(key))); s == nil && e.past(p.now) {
			delete(p.r, key)
			expired--
		}
	}
	if expired != 0 {
		return fmt.Errorf("ExpireSome deleted %d that are not past", expired)
	}
	return nil
}

func expect(got, want error, what string, key []byte) error {
	if !errors.Is(got, want) {
		return fmt.Errorf("%s(%q): error %v, want %v", what, key, got, want)
	}
	return nil
}

// compare verifies everything.
func (p *play) compare() error {
	if err := p.t.check(); err != nil {
		return err
	}
	if p.t.Len() != len(p.r) {
		return fmt.Errorf("Len is %d, want %d", p.t.Len(), len(p.r))
	}
	for _, at := range p.t.entries() {
		b := p.t.arena.block(at)
		e, ok := p.r[string(b.key())]
		if ok && e.kind.IsHash() {
			if err := p.compareFields(b, e); err != nil {
				return err
			}
			continue
		}
		if !ok || e.value != string(b.value()) || e.expireAt != p.t.when(b) || e.kind != b.kind() {
			return fmt.Errorf("%q is %x until %d, want %x until %d", b.key(), b.value(), p.t.when(b), e.value, e.expireAt)
		}
	}
	return nil
}

// run plays the whole script.
func (p *play) run() error {
	for n := 0; len(p.script) > 0; n++ {
		err := p.step()
		if err == nil && n%1024 == 0 {
			err = p.compare()
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return p.compare()
}

func randomScript(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	script := make([]byte, n)
	for i := range script {
		script[i] = byte(random.Uint32())
	}
	return script
}

func TestModel(t *testing.T) {
	for name, c := range map[string]Config{
		"tiny":  tiny,
		"small": {SegmentBytes: 4096, IndexMin: 64, KeyMax: 40, ValueMax: 700},
		"zero":  {KeyMax: 40, ValueMax: 700},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				c.Seed = seed
				if err := newPlay(c, randomScript(seed, fewer(160_000))).run(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// TestModelReachesRareBranches guards the model test against scripts that are too
// tame.
func TestModelReachesRareBranches(t *testing.T) {
	var growing, shrinking, leaving, pages, segments int
	if housetest.Slow {
		t.Skip("it is about the script, not the code")
	}
	p := newPlay(tiny, randomScript(1, 2_000_000))
	for len(p.script) > 0 {
		if err := p.step(); err != nil {
			t.Fatalf("seed 1: %v", err)
		}
		if x := &p.t.index; x.old != nil && len(x.old) < len(x.main) {
			growing++
		} else if x.old != nil {
			shrinking++
		}
		if p.t.arena.leaving != 0 {
			leaving++
		}
		pages = max(pages, len(p.t.deadlines.pages))
		segments = max(segments, len(p.t.arena.segments))
	}
	seen := fmt.Sprintf("steps: growing %d, shrinking %d, a segment leaving %d; at most %d pages of deadlines, %d segments",
		growing, shrinking, leaving, pages, segments)
	t.Log(seen)
	if growing < 1000 || shrinking < 100 || leaving < 100 || pages < 3 || segments < 500 {
		t.Error(seen)
	}
}

func FuzzTable(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(randomScript(seed, 2000))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if err := newPlay(tiny, script).run(); err != nil {
			t.Fatal(err)
		}
	})
}
