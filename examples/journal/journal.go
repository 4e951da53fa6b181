package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Journal is the actor that owns the file.
type Journal struct {
	file interface { // an *os.File
		Write(p []byte) (int, error)
		Sync() error
	}
	size int64  // of the file, in bytes
	page []byte // scratch: the lines that are being written
	lost error  // why nothing is written any more
}

type appendStack struct {
	core.BatchAskStack[pool.Bytes, int64] // lines, each with its newline; where they are
	synced                                core.Future[int]
}

var journalAppend = core.HandleBatch((*Journal).append, 1024) // all that a mailbox takes
func (j *Journal) append(s *appendStack) core.Yield {
	if j.lost != nil {
		return s.ThrowAll(j.lost)
	}
	s.Barrier() // what comes from now on is the next batch
	j.page = j.page[:0]
	for _, line := range s.All() {
		j.page = append(j.page, line.B()...)
	}
	core.OffloadKept(s, &s.synced, nil, *j, commit) // no step writes to its page meanwhile
	return core.Suspend(s, (*Journal).committed)
}

// commit may block: it runs on a goroutine that is no worker.
func commit(_ context.Context, j Journal) (n int, err error) {
	if n, err = j.file.Write(j.page); err == nil {
		err = j.file.Sync()
	}
	return n, err
}

// committed answers all. An error is for good: a write may have left a part of a line, and an fsync
// that failed must not be tried again. The system tells once of what it couldn't write, and may
// then take it for written: the next fsync would succeed, and the lines be lost.
func (j *Journal) committed(s *appendStack) core.Yield {
	if _, j.lost = s.synced.Get(); j.lost != nil {
		return s.ThrowAll(j.lost)
	}
	return s.ReturnEach(func(line *pool.Bytes) (offset int64, err error) {
		offset, j.size = j.size, j.size+int64(line.Len())
		return offset, nil
	})
}

// open cuts off what stands behind the last whole line: nobody was told that it is there.
func open(path string) *Journal {
	file := must(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600))
	size := int64(bytes.LastIndexByte(must(os.ReadFile(path)), '\n') + 1)
	folder := must(os.Open(filepath.Dir(path))) // synced, or a new file may have no name
	return must(&Journal{file: file, size: size}, errors.Join(file.Truncate(size), folder.Sync(), folder.Close()))
}

// lines is the codec. A client that gets ERR knows nothing of its line: it may be there, or not.
type lines struct{}

func (lines) Decode(in []byte, line *[]byte) (n int, err error) {
	const lineMax = 4096 // bytes, with the newline
	if n = bytes.IndexByte(in[:min(len(in), lineMax)], '\n') + 1; n == 0 && len(in) >= lineMax {
		return 0, fmt.Errorf("a line has more than %d bytes", lineMax)
	}
	*line = in[:n] // with n 0 it isn't whole, and read again with what comes
	return n, nil
}

func (lines) Encode(out []byte, offset *int64, err error) []byte {
	if err != nil {
		return fmt.Appendf(out, "ERR %.120v\n", err)
	}
	return append(strconv.AppendInt(append(out, "OK "...), *offset, 10), '\n')
}

func (lines) Need() int                             { return 1 }
func (lines) Size(*int64, error) int                { return 512 } // 120 runes, and more
func (l lines) Refuse(out []byte, err error) []byte { return l.Encode(out, nil, err) }

type front struct{ journal core.Port[pool.Bytes, int64] } // where clients come in

type lineStack struct {
	core.ChannelStack[[]byte, int64]
	offset core.Future[int64]
}

var frontLine = channel.Handle((*front).line)

func (f *front) line(s *lineStack) core.Yield {
	f.journal.Ask(s, &s.offset, s.Keep(s.Req)) // counted: they live on if the client goes
	return core.Suspend(s, (*front).appended)
}

func (f *front) appended(s *lineStack) core.Yield {
	offset, err := s.offset.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(offset)
}

// serve has clients append to a journal. If it panics it stops: a new one would share its state.
func serve(ctx context.Context, address string, j *Journal) (*house.System, string) {
	sys := must(house.New(house.Config{Supervise: &core.Strategy{Decide: core.Decide(core.Stop)}}))
	must(sys, sys.Start(ctx))
	journal := journalAppend.At(core.Spawn(sys, func() *Journal { return j }))
	fronts := core.Replicate(sys, func() *front { return &front{journal} })
	c := channel.Config[[]byte, int64]{Network: "tcp", Address: address, Codec: func() channel.Codec[[]byte, int64] { return lines{} }}
	return sys, must(channel.Listen(ctx, c, frontLine, fronts.All()...)).Addr()
}

func main() {
	address, path := flag.String("addr", "127.0.0.1:7070", "where to listen"), flag.String("file", "journal.data", "the file")
	flag.Parse()
	_, at := serve(context.Background(), *address, open(*path))
	log.Println("journal listens at", at)
	select {} // until it is killed: what it has answered is on disk
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
