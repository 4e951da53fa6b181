package frame_test

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel/frame"
)

// Lines as they come: the last one isn't whole yet.
func ExampleLine() {
	lines := frame.Line{Max: 1000} // one a connection
	in := []byte("one\r\ntwo\nthr")
	for {
		var line []byte
		n, err := lines.Decode(in, &line)
		if n == 0 {
			fmt.Println("needs", lines.Need(), "bytes, has", len(in), err)
			break
		}
		fmt.Printf("%q\n", line)
		in = in[n:]
	}
	// Output:
	// "one"
	// "two"
	// needs 4 bytes, has 3 <nil>
}

// A payload that would be two frames for the peer is refused.
func ExampleDelimiter() {
	parts := frame.Delimiter{Mark: []byte("--")}
	fmt.Printf("%q\n", parts.Append(nil, []byte("a-b")))
	fmt.Println(parts.Check([]byte("a--b")))
	fmt.Println(parts.Check([]byte("a-")), "as well: the peer would see it end a byte too early")
	// Output:
	// "a-b--"
	// frame: the payload holds the end of a frame
	// frame: the payload holds the end of a frame as well: the peer would see it end a byte too early
}

// Measured values of eight bytes each.
func ExampleFixed() {
	values := frame.Fixed{Bytes: 8}
	in := values.Append(nil, binary.BigEndian.AppendUint64(nil, 42))
	var value []byte
	n, _ := values.Decode(in, &value)
	fmt.Println(n, binary.BigEndian.Uint64(value))
	// Output: 8 42
}

// A header of a type and a length that counts the header: frames keep it, for their type.
func ExampleLength() {
	frames := frame.Length{Offset: 1, Width: 2, Adjust: -3, Keep: true, Max: 1000}
	out := frames.Append(nil, []byte("T??hello"))
	fmt.Printf("%q\n", out)

	var message []byte
	frames.Decode(out, &message)
	fmt.Printf("type %c, %q\n", message[0], message[3:])

	_, err := frames.Decode([]byte("T\xff\xff"), &message)
	fmt.Println(err, errors.Is(err, frame.ErrTooLong))
	// Output:
	// "T\x00\bhello"
	// type T, "hello"
	// frame: longer than the limit true
}

// Messages as protobuf delimits them.
func ExampleVarint() {
	messages := frame.Varint{Max: 4 << 20}
	out := messages.Append(nil, make([]byte, 300))
	fmt.Printf("%x %d\n", out[:2], len(out))

	var message []byte
	n, err := messages.Decode(out[:2], &message)
	fmt.Println(n, err, messages.Need())
	// Output:
	// ac02 302
	// 0 <nil> 302
}

// Both ends of a connection, each with a codec of its own.
func ExampleCodec() {
	client := &frame.Codec{Framing: &frame.Line{}}
	server := &frame.Codec{
		Framing: &frame.Line{},
		Fault:   func(out []byte, err error) []byte { return append(append(out, "ERR "...), err.Error()...) },
	}
	req := []byte("hello")
	sent := client.AppendRequest(nil, &req)

	var got []byte
	server.Decode(sent, &got)
	answers := server.Encode(nil, &got, nil)
	answers = server.Encode(answers, nil, errors.New("no such key"))
	answers = server.Refuse(answers, frame.ErrTooLong)

	for len(answers) > 0 {
		var rep []byte
		n, _ := client.Decode(answers, &rep)
		fmt.Printf("%s\n", rep)
		answers = answers[n:]
	}
	// Output:
	// hello
	// ERR no such key
	// ERR frame: longer than the limit
}

// A codec of other types has a framing as a field.
func ExampleFraming() {
	var frames frame.Framing = &frame.Length{Width: 1}
	decode := func(in []byte, req *uint32) (n int, err error) {
		var body []byte
		if n, err = frames.Decode(in, &body); n > 0 {
			if len(body) != 4 {
				return n, frame.ErrLength
			}
			*req = binary.LittleEndian.Uint32(body)
		}
		return n, err
	}
	var req uint32
	fmt.Println(decode([]byte("\x04\x07\x00"), &req))
	fmt.Println(decode([]byte("\x04\x07\x00\x00\x00"), &req))
	fmt.Println(req)
	fmt.Println(decode([]byte("\x01\x07"), &req))
	// Output:
	// 0 <nil>
	// 5 <nil>
	// 7
	// 2 frame: no frame has this length
}
