package frame

import "math"

// Ref declares a number for an actor, for all frames of this track and direction that follow. An
// actor of the receiver is named by its path or by its serial, as FOUND has told it.
type Ref struct {
	Number uint64 // not 0; declared once in a session
	Serial uint64 // 0: Path says which actor it is
	Path   []byte // empty: Serial says it
	Type   []byte // name of the actor's type, or empty
}

// Append appends e as a frame. It panics unless there is a number, and either a serial or a path.
//
//alloc:none
func (e *Ref) Append(dst []byte) []byte {
	demand(e.Number != 0 && (e.Serial == 0) == (len(e.Path) > 0))
	start := len(dst)
	dst = open(dst, KindRef, 0)
	dst = appendNumber(dst, e.Number)
	dst = appendNumber(dst, e.Serial)
	dst = appendBytes(dst, e.Path, NameMax)
	return closed(appendBytes(dst, e.Type, NameMax), start)
}

// Read reads e from a REF.
//
//alloc:none
func (e *Ref) Read(r Raw) error {
	f := fieldsOf(r, KindRef)
	e.Number = f.between(1, math.MaxUint64)
	e.Serial = f.number()
	e.Path = f.bytes(NameMax)
	e.Type = f.bytes(NameMax)
	f.must((e.Serial == 0) == (len(e.Path) > 0))
	return f.end()
}

// Find asks which actor has a path. FOUND, or FAIL, answers it.
type Find struct {
	Slot uint64
	Path []byte
}

// Append appends q as a frame.
//
//alloc:none
func (q *Find) Append(dst []byte) []byte {
	start := len(dst)
	dst = appendNumber(open(dst, KindFind, 0), q.Slot)
	return closed(appendBytes(dst, q.Path, NameMax), start)
}

// Read reads q from a FIND.
//
//alloc:none
func (q *Find) Read(r Raw) error {
	f := fieldsOf(r, KindFind)
	q.Slot = f.number()
	q.Path = f.bytes(NameMax)
	return f.end()
}

// Found answers a FIND or a SPAWN.
type Found struct {
	Slot   uint64
	Serial uint64 // of the actor; 0: there is none
	Type   []byte // name of its type
}

// Append appends a as a frame.
//
//alloc:none
func (a *Found) Append(dst []byte) []byte {
	start := len(dst)
	dst = appendNumber(open(dst, KindFound, 0), a.Slot)
	dst = appendNumber(dst, a.Serial)
	return closed(appendBytes(dst, a.Type, NameMax), start)
}

// Read reads a from a FOUND.
//
//alloc:none
func (a *Found) Read(r Raw) error {
	f := fieldsOf(r, KindFound)
	a.Slot = f.number()
	a.Serial = f.number()
	a.Type = f.bytes(NameMax)
	return f.end()
}

// Spawn asks for a new actor of a kind that the receiver knows. FOUND, or FAIL, answers it.
type Spawn struct {
	Slot    uint64
	Kind    []byte // the name under which the receiver makes such actors
	Path    []byte // where it is to stand; empty: the receiver chooses
	Message []byte // what the kind makes it from
}

// Append appends s as a frame.
//
//alloc:none
func (s *Spawn) Append(dst []byte) []byte {
	start := len(dst)
	dst = appendNumber(open(dst, KindSpawn, 0), s.Slot)
	dst = appendBytes(dst, s.Kind, NameMax)
	dst = appendBytes(dst, s.Path, NameMax)
	return closed(append(dst, s.Message...), start)
}

// Read reads s from a SPAWN.
//
//alloc:none
func (s *Spawn) Read(r Raw) error {
	f := fieldsOf(r, KindSpawn)
	s.Slot = f.number()
	s.Kind = f.bytes(NameMax)
	s.Path = f.bytes(NameMax)
	s.Message = f.rest()
	return f.end()
}
