package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// serveTCP is one goroutine that reads messages of protocol buffers behind their lengths, buffered.
// To one without bytes it answers with how many came.
func serveTCP(ready func(string)) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	ready(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go readAll(c)
		}
	}()
	untilEnd()
	return nil
}

func readAll(c net.Conn) {
	defer c.Close()
	r := bufio.NewReaderSize(c, 64<<10)
	buf := make([]byte, 1024)
	n := uint64(0)
	for {
		size, err := binary.ReadUvarint(r)
		if err != nil || size > uint64(len(buf)) {
			return
		}
		if _, err = io.ReadFull(r, buf[:size]); err != nil {
			return
		}
		m := &wrapperspb.BytesValue{}
		if proto.Unmarshal(buf[:size], m) != nil {
			return
		}
		if len(m.Value) > 0 {
			n++
		} else if binary.Write(c, binary.LittleEndian, n) != nil {
			return
		}
	}
}

func tellTCP(address string, n int) (r result, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return r, err
	}
	defer c.Close()
	w := bufio.NewWriterSize(c, 64<<10)
	var buf []byte
	write := func(m *wrapperspb.BytesValue) error {
		text, err := proto.MarshalOptions{}.MarshalAppend(append(buf[:0], make([]byte, binary.MaxVarintLen32)...), m)
		if err != nil {
			return err
		}
		buf = text
		var head [binary.MaxVarintLen32]byte
		size := binary.PutUvarint(head[:], uint64(len(text)-len(head)))
		w.Write(head[:size])
		_, err = w.Write(text[len(head):])
		return err
	}
	count := func() (all uint64, err error) {
		if err = errors.Join(write(&wrapperspb.BytesValue{}), w.Flush()); err == nil {
			err = binary.Read(c, binary.LittleEndian, &all)
		}
		return all, err
	}
	for range n/5 + 1 {
		if err = write(someBytes); err != nil {
			return r, err
		}
	}
	before, err := count()
	if err != nil {
		return r, err
	}
	began := time.Now()
	for range n {
		if err = write(someBytes); err != nil {
			return r, err
		}
	}
	after, err := count()
	return result{Each: float64(time.Since(began)) / float64(n), Count: int(after - before)}, err
}
