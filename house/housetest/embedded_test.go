package housetest_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// knock is a Stage that holds everything until it was knocked at, once a second has passed.
type knock struct{ open bool }

func (k *knock) Open(f *stage.Flow) error {
	f.HoldSending(true)
	return nil
}

func (k *knock) Receive(f *stage.Flow, p []byte) error {
	switch {
	case k.open:
		f.Up(p)
	case p[0] == '!':
		return errors.New("not so loud")
	default:
		f.Down([]byte("wait\n"))
		f.HoldReading(true)
		f.Alarm(time.Second)
	}
	return nil
}

func (k *knock) ReceiveEnd(f *stage.Flow) error {
	f.Up([]byte("end\n"))
	return nil
}

func (k *knock) Tick(f *stage.Flow) error {
	k.open = true
	f.HoldReading(false)
	f.HoldSending(false)
	return nil
}

func strs(all [][]byte) (s []string) {
	for _, b := range all {
		s = append(s, string(b))
	}
	return s
}

func TestEmbedded(t *testing.T) {
	e := housetest.Embed[[]byte, []byte](&frame.Codec{Framing: &frame.Line{Max: 20}}, &knock{})
	all, err := e.Receive([]byte("knock\n"))
	require.NoError(t, err)
	require.Empty(t, all)
	require.NoError(t, e.Send([]byte("hello"), nil))
	require.Equal(t, "wait\n", string(e.Sent()))
	all, err = e.Receive([]byte("one\ntw"))
	require.NoError(t, err)
	require.Empty(t, all, "reading is held")
	all, err = e.Pass(999 * time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, all)
	require.Empty(t, e.Sent())
	all, err = e.Pass(time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, strs(all))
	require.Equal(t, "hello\n", string(e.Sent()))
	more, err := e.Receive([]byte("o\nthr"))
	require.NoError(t, err)
	require.Equal(t, []string{"two"}, strs(more))
	require.Equal(t, []string{"one"}, strs(all), "requests may be kept")
	more, err = e.ReceiveEnd()
	require.NoError(t, err)
	require.Equal(t, []string{"thr" + "end"}, strs(more))
	require.True(t, e.Ended())
	require.False(t, e.Closing())

	e = housetest.Embed[[]byte, []byte](&frame.Codec{Framing: &frame.Line{Max: 20}}, &knock{})
	e.Receive([]byte("knock\n"))
	e.Receive([]byte("one\n"))
	all, err = e.ReceiveEnd()
	require.NoError(t, err)
	require.Empty(t, all)
	all, err = e.Pass(time.Second)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "end"}, strs(all), "the end doesn't overtake what is held")

	e = housetest.Embed[[]byte, []byte](&frame.Codec{Framing: &frame.Line{Max: 20}}, &knock{})
	_, err = e.Receive([]byte("!\n"))
	require.EqualError(t, err, "not so loud")

	e = housetest.Embed[[]byte, []byte](&frame.Codec{Framing: &frame.Line{Max: 3}}, stage.Idle(time.Minute))
	all, err = e.Receive([]byte("a\nlong\nb\n"))
	require.ErrorIs(t, err, frame.ErrTooLong)
	require.Equal(t, []string{"a"}, strs(all))
	all, err = e.Receive([]byte("b\n"))
	require.ErrorIs(t, err, frame.ErrTooLong, "nothing is decoded behind an error")
	require.Empty(t, all)
	require.False(t, e.Closing())
	e.Pass(time.Hour)
	require.True(t, e.Closing())
}

// lying is a Decoder of lines that isn't true to its contract in one way.
type lying struct {
	way  string
	need int
	said bool
}

func (l *lying) Decode(in []byte, line *string) (n int, err error) {
	for i, c := range in {
		if c == '\n' {
			*line = string(in[:i])
			if l.way == "remembers" && l.said { // that the first call found no whole line
				*line += "!"
			}
			if l.way == "takes" {
				i = len(in)
			}
			l.said = false
			return i + 1, nil
		}
	}
	l.said = true
	l.need = len(in) + 1
	switch l.way {
	case "needs":
		l.need++
	case "nothing":
		l.need = 0
	case "fails":
		if len(in) == 2 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return 0, nil
}

func (l *lying) Need() int { return l.need }

func TestRequireSplits(t *testing.T) {
	for _, way := range []string{"", "remembers", "takes", "needs", "nothing", "fails"} {
		t.Run(way, func(t *testing.T) {
			said := verdictOf(t, func(t testing.TB) {
				housetest.RequireSplits(t, func() housetest.Decoder[string] { return &lying{way: way} }, []byte("ab\ncd\n"))
			})
			require.Equal(t, way != "", said != "", said)
		})
	}
}

func ExampleEmbed() {
	e := housetest.Embed[[]byte, []byte](&frame.Codec{Framing: &frame.Line{Max: 100}}, stage.Rate(10, 20))
	all, err := e.Receive([]byte("the first line\nand a lo"))
	fmt.Printf("%q %v\n", all, err)
	all, err = e.Receive([]byte("ng one\n"))
	fmt.Printf("%q %v\n", all, err)
	all, err = e.Pass(time.Second) // above the burst the rate is 10 bytes a second
	fmt.Printf("%q %v\n", all, err)
	// Output:
	// ["the first line"] <nil>
	// [] <nil>
	// ["and a long one"] <nil>
}
