package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// answers sends commands in one pipeline and requires their replies.
func (c *client) answers(exchanges ...[2]string) {
	c.t.Helper()
	var text []byte
	for _, x := range exchanges {
		text = resp.AppendCommand(text, strings.Fields(x[0])...)
	}
	c.send(text)
	for _, x := range exchanges {
		require.Equal(c.t, x[1], c.reply(), x[0])
	}
}

// TestVersions: a reply is in the version that its connection spoke when the command
// came, however they are pipelined.
func TestVersions(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c := w.dial()
		c.do("PING") // the first to be served has id 1
		other := w.dial()
		hello := " $6 server $5 redis $7 version $6 7.0.15 $5 proto :%d $2 id :1 $4 mode $10 standalone $4 role $6 master $7 modules *0"
		for range 2 {
			c.answers([][2]string{
				{"HSET h a 1", ":1"},
				{"HELLO", "*14" + fmt.Sprintf(hello, 2)},
				{"GET none", "$-1"},
				{"MGET none", "*1 $-1"},
				{"HGETALL h", "*2 $1 a $1 1"},
				{"CONFIG GET databases", "*2 $9 databases $1 1"},
				{"HELLO 3", "%7" + fmt.Sprintf(hello, 3)},
				{"GET none", "_"},
				{"MGET none none2", "*2 _ _"},
				{"HMGET h none a", "*2 _ $1 1"},
				{"HGET h none", "_"},
				{"HGETALL h", "%1 $1 a $1 1"},
				{"HGETALL none", "%0"},
				{"HRANDFIELD h 1 WITHVALUES", "*1 *2 $1 a $1 1"},
				{"HRANDFIELD none", "_"},
				{"SET s v NX GET", "_"},
				{"SET s v NX", "_"},
				{"OBJECT ENCODING none", "_"},
				{"CLIENT GETNAME", "_"},
				{"CONFIG GET databases", "%1 $9 databases $1 1"},
				{"CLIENT LIST ID 77", "=4 txt:"},
				{"HELLO", "%7" + fmt.Sprintf(hello, 3)},
				{"HELLO 2", "*14" + fmt.Sprintf(hello, 2)},
				{"GET none", "$-1"},
				{"HELLO 3", "%7" + fmt.Sprintf(hello, 3)},
				{"DEL h s", ":2"},
				{"RESET", "+RESET"},
				{"GET none", "$-1"},
			}...)
			require.Equal(t, "$-1", other.do("GET", "none"))
		}
		c.do("HELLO", "3")
		require.Regexp(t, `^=\d+ txt:# Server `, c.do("INFO"))
		require.Regexp(t, `^=\d+ txt:id=1 .* cmd=client\|info user=default redir=-1 resp=3 $`, c.do("CLIENT", "INFO"))
		require.Regexp(t, `^=\d+ txt:id=1 .* cmd=client\|list user=default redir=-1 resp=3 $`, c.do("CLIENT", "LIST"))
		require.Regexp(t, `^=\d+ txt:`, c.do("MEMORY", "DOCTOR"))
		require.Regexp(t, `^:[1-9]`, c.do("CLIENT", "ID"))
	})
}

func TestPassword(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{password: "secret"})
		c := w.dial()
		const noAuth, wrong = "-NOAUTH Authentication required.", "-WRONGPASS invalid username-password pair or user is disabled."
		c.answers([][2]string{
			{"GET a", noAuth},
			{"MSET a 1 b 2", noAuth},
			{"PING", noAuth},
			{"PING a b", noAuth},
			{"MSET a b c", noAuth},
			{"MSETNX a b c", noAuth},
			{"MSET a", "-ERR wrong number of arguments for 'mset' command"},
			{"CONFIG GET save", noAuth},
			{"NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: "},
			{"GET", "-ERR wrong number of arguments for 'get' command"},
			{"HELLO 3 SETNAME me", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> " +
				"option can be used to authenticate the client and select the RESP protocol version at the same time"},
			{"AUTH wrong", wrong},
			{"AUTH default wrong", wrong},
			{"AUTH other secret", wrong},
			{"AUTH secretsecret", wrong},
			{"HELLO 3 AUTH default wrong", wrong},
			{"AUTH a b c", "-ERR syntax error"},
			{"SET a 1", noAuth},
			{"AUTH secret", "+OK"},
			{"SET a 1", "+OK"},
			{"AUTH wrong", wrong},
			{"GET a", "$1 1"},
			{"PING a b", "-ERR wrong number of arguments for 'ping' command"},
			{"MSET a b c", "-ERR wrong number of arguments for 'mset' command"},
			{"MSETNX a b c", "-ERR wrong number of arguments for 'msetnx' command"},
			{"RESET", "+RESET"},
			{"GET a", noAuth},
			{"AUTH default secret", "+OK"},
			{"GET a", "$1 1"},
		}...)
		other := w.dial()
		require.Equal(t, noAuth, other.do("GET", "a"))
		require.Contains(t, other.do("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"), "%7 ")
		require.Equal(t, "$2 me", other.do("CLIENT", "GETNAME"))
		require.Equal(t, "+OK", other.do("CONFIG", "SET", "requirepass", ""))
		require.Equal(t, "$1 1", w.dial().do("GET", "a"))
		w.service.exposed.Store(true)
		third := w.dial()
		require.Equal(t, "+OK", third.do("CONFIG", "SET", "requirepass", ""), "there was none")
		require.Equal(t, "+OK", third.do("CONFIG", "SET", "requirepass", "new"))
		require.Contains(t, third.do("CONFIG", "SET", "requirepass", ""), "-ERR CONFIG SET failed (possibly related to argument 'requirepass') - without it")
		require.Equal(t, "$1 1", third.do("GET", "a"), "who was in stays in")
		require.Equal(t, noAuth, w.dial().do("GET", "a"))
		last := w.dial()
		require.Equal(t, "+OK", last.do("QUIT"))
		last.expectEnd()
	})
}

// TestReplyMode: commands without an answer take effect, and the others' answers
// stay in order.
func TestReplyMode(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		c.send([]byte("SET a 1\r\nCLIENT REPLY SKIP\r\nINCR a\r\nINCR a\r\nCLIENT REPLY OFF\r\nINCR a\r\nMGET a\r\nNOSUCH\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nGET a\r\n" +
			"CLIENT REPLY OFF\r\nINCR a\r\nRESET\r\nGET a\r\n"))
		for _, want := range []string{"+OK", ":3", "+OK", "$1 4", "+RESET", "$1 5"} {
			require.Equal(t, want, c.reply())
		}
		// for the INCR before
		for _, waits := range []string{"KEYS *", "SCAN 0", "RENAME a a", "MSETNX a 1 b 2"} {
			c.send([]byte("INCR n\r\nCLIENT REPLY SKIP\r\n" + waits + "\r\nECHO " + waits[:1] + "\r\n"))
			require.Regexp(t, `^:\d+$`, c.reply())
			require.Equal(t, "$1 "+waits[:1], c.reply(), waits)
		}
		id := c.do("CLIENT", "ID")[1:]
		require.Equal(t, ":0", c.do("CLIENT", "KILL", "ID", id))
		require.Equal(t, ":1", c.do("CLIENT", "KILL", "ID", id, "SKIPME", "no"))
		c.expectEnd()
	})
}

// TestHelp: every command with subcommands says which, and names none that isn't.
func TestHelp(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	for _, e := range commands {
		if e.subs == nil {
			continue
		}
		text := c.do(e.name, "HELP")
		require.Regexp(t, `^\*\d+ \+`+strings.ToUpper(e.name)+` <subcommand>`, text)
		for _, sub := range e.subs {
			_, name, _ := strings.Cut(sub.name, "|")
			require.Contains(t, text, "+"+strings.ToUpper(name), sub.name)
			require.Contains(t, sub.name, e.name+"|")
		}
	}
}

// TestHTTP: a browser that a page sends here gets no answer, and none of its lines is obeyed.
func TestHTTP(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		for _, text := range []string{
			"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nSET pwn 1\r\n",
			"hOST: 127.0.0.1\r\nSET pwn 1\r\n",
		} {
			c := w.dial()
			c.send([]byte(text))
			_, err := c.next()
			require.ErrorIs(t, err, io.EOF, text)
			require.Empty(t, c.in)
		}
		require.Equal(t, "$-1", w.dial().do("GET", "pwn"))
	})
}

// TestClientListOfSome: who asks is listed if its own number is among those given, wherever.
func TestClientListOfSome(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	id := c.do("CLIENT", "ID")[1:]
	for _, ids := range [][]string{{id}, {id, "999999999"}, {"999999999", id}, {"999999999", id, "999999998"}} {
		require.Contains(t, c.do(append([]string{"CLIENT", "LIST", "ID"}, ids...)...), "id="+id+" ", ids)
	}
}
