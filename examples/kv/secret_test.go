package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// TestStrangersSendLittle: before the password ten arguments of 16 KiB, from it on what all may
// send, also in one go with it.
func TestStrangersSendLittle(t *testing.T) {
	const noAuth = "-NOAUTH Authentication required."
	long, longer := strings.Repeat("x", 16<<10), strings.Repeat("x", 100_000)
	w := openWorld(t, 2, options{password: "secret"})
	for _, x := range []struct{ text, want string }{
		{"*11\r\n", "-ERR Protocol error: unauthenticated multibulk length"},
		{"*2\r\n$3\r\nGET\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length"},
		{"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*2\r\n$16385\r\n", noAuth + "-ERR Protocol error: unauthenticated bulk length"},
		{"*x\r\n", "-ERR Protocol error: invalid multibulk length"},
		{"*2\r\n$x\r\n", "-ERR Protocol error: invalid bulk length"},
		{"*1\r\n$99999999\r\n", "-ERR Protocol error: invalid bulk length"},
		{string(encoded("AUTH wrong")) + "*11\r\n", "-" + errWrongPass + "-ERR Protocol error: unauthenticated multibulk length"},
	} {
		c := w.dial()
		c.send([]byte(x.text))
		got := c.reply()
		if strings.Count(x.want, "-") > 1 {
			got += c.reply()
		}
		require.Equal(t, x.want, got, x.text)
		c.expectEnd()
	}
	for _, login := range []string{"AUTH secret", "auth default secret", "HELLO 2 SETNAME me AUTH default secret"} {
		c := w.dial()
		require.Equal(t, noAuth, c.do(strings.Fields("SET k "+long+" 3 4 5 6 7 8 9")...))
		c.send(append(encoded("GET k", "GET k", login), encoded("SET k "+longer, "STRLEN k", "EXISTS 1 2 3 4 5 6 7 8 9 10 k")...))
		require.Equal(t, noAuth, c.reply())
		require.Equal(t, noAuth, c.reply())
		c.reply()
		for _, want := range []string{"+OK", ":100000", ":1"} {
			require.Equal(t, want, c.reply(), login)
		}
	}
}

// TestStrangersKeepNobodyWaiting: whatever those send, and fail to end, who haven't given the
// password, requests of who has are read.
func TestStrangersKeepNobodyWaiting(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{password: "secret", maxmemory: 64 << 20})
		argument := "$16384\r\n" + strings.Repeat("a", 16<<10) + "\r\n"
		text := "*10\r\n" + strings.Repeat(argument, 10)
		for range 150 {
			c := w.dial()
			go io.WriteString(c, text[:len(text)-100]) // not all of it is taken
		}
		time.Sleep(300 * time.Millisecond)
		for range 5 {
			c := w.dial()
			require.NoError(t, c.SetDeadline(time.Now().Add(lostAfter/3)))
			c.send(append(encoded("AUTH secret"), encoded("SET k "+strings.Repeat("v", 1<<20))...))
			require.Equal(t, "+OK", c.reply())
			require.Equal(t, "+OK", c.reply())
			require.Equal(t, "+OK", c.do("SET", "k", strings.Repeat("v", 2000)))
		}
	})
}

// TestRefusals: what a client is told behind which the connection is closed.
func TestRefusals(t *testing.T) {
	var c codec
	for _, x := range []struct {
		err  error
		want string
	}{
		{channel.ErrConnsMax, "-ERR max number of clients reached\r\n"},
		{channel.ErrSlowRequest, "-ERR the request took too long to arrive\r\n"},
		{resp.ErrQuotes, "-ERR Protocol error: unbalanced quotes in request\r\n"},
		{errHTTP, ""},
	} {
		require.Equal(t, x.want, string(c.Refuse(nil, x.err)))
	}
}
