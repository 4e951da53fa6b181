package resp

import (
	"errors"
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

var errSkip = errors.New("skip") // channel.ErrSkip

// args makes arguments of words.
func args(words ...string) (all [][]byte) {
	for _, word := range words {
		all = append(all, []byte(word))
	}
	return all
}

func TestRequestsAsSent(t *testing.T) {
	more := Cmd("mget", args("a")...)
	more.More = args("b", "c", "d", "e", "f")
	for want, req := range map[string]Request{
		"PING":              Cmd("PING"),
		"GET a":             Cmd("GET", args("a")...),
		"SET a b EX 9":      Cmd("SET", args("a", "b", "EX", "9")...),
		"DEL a b c d e f g": Cmd("DEL", args("a", "b", "c", "d", "e", "f", "g")...),
		"mget a b c d e f":  more,
		"":                  {},
	} {
		got := req.Append([]byte("before"))
		if string(got) != "before"+string(AppendCommand(nil, strings.Split(want, " ")...)) || len(got) > len("before")+req.Size() {
			t.Errorf("%q is %q, of %d bytes at most", want, got, req.Size())
		}
	}
}

// play has c decode in, and returns the texts of the replies, "skipped", or the error.
func play(c *ClientCodec, in string) (all []string) {
	for len(in) > 0 {
		var v Value
		n, err := c.Decode([]byte(in), &v)
		switch {
		case n == 0 && err == nil:
			return append(all, "more")
		case n == 0:
			return append(all, err.Error())
		case err == errSkip && v.Kind == KindNil && v.Str == nil:
			all = append(all, "skipped")
		case err != nil:
			return append(all, "odd: "+err.Error())
		default:
			all = append(all, text(v))
		}
		in = in[n:]
	}
	return all
}

func TestClientCodec(t *testing.T) {
	hello := AppendCommand(AppendCommand(nil, "HELLO", "3"), "CLIENT", "TRACKING", "ON")
	for _, test := range []struct {
		what, in, want string
		c              ClientCodec
	}{
		{"replies", "+OK\r\n-ERR x\r\n!2\r\nno\r\n*1\r\n", `+OK|-ERR x|-"no"|more`, ClientCodec{}},
		{"a push", ":1\r\n>1\r\n+x\r\n|1\r\n+a\r\n+b\r\n>0\r\n:2\r\n>1\r\n", "1|skipped|skipped|2|more", ClientCodec{Skip: errSkip}},
		{"a push, and no Skip", ":1\r\n>1\r\n+x\r\n:2\r\n", "1|" + ErrPush.Error(), ClientCodec{}},
		{"a greeting", "%1\r\n+a\r\n+b\r\n>0\r\n+OK\r\n:1\r\n", "skipped|skipped|skipped|1", ClientCodec{Skip: errSkip, Greeting: hello}},
		{"a refused greeting", "+OK\r\n-WRONGPASS no\r\n:1\r\n", "skipped|" + ErrGreeting.Error() + ": WRONGPASS no", ClientCodec{Skip: errSkip, Greeting: hello}},
		{"nonsense", ":1\r\nx", "1|" + ErrReply.Error(), ClientCodec{}},
		{"too long", "$31\r\n", ErrReplyLimit.Error(), ClientCodec{ReplyDecoder: NewReplyDecoder(tiny)}},
	} {
		req := Cmd("PING")
		want := string(test.c.Greeting) + "*1\r\n$4\r\nPING\r\n"
		if size, got := test.c.RequestSize(&req), test.c.AppendRequest(nil, &req); string(got) != want || len(got) > size {
			t.Errorf("%s: %q of %d bytes", test.what, got, size)
		}
		if size, got := test.c.RequestSize(&req), test.c.AppendRequest(nil, &req); string(got) != "*1\r\n$4\r\nPING\r\n" || len(got) > size {
			t.Errorf("%s: %q of %d bytes, the second time", test.what, got, size)
		}
		if got := strings.Join(play(&test.c, test.in), "|"); got != test.want {
			t.Errorf("%s: %s; want %s", test.what, got, test.want)
		}
	}
}

func TestOnPush(t *testing.T) {
	var pushes []string
	c := ClientCodec{Skip: errSkip, OnPush: func(v Value) { pushes = append(pushes, text(v)) }}
	play(&c, ">1\r\n+a\r\n:1\r\n>1\r\n+b\r\n>1\r\n")
	if got := strings.Join(pushes, " "); got != ">[+a] >[+b]" {
		t.Error(got)
	}
}

func TestBadGreetings(t *testing.T) {
	for _, c := range []ClientCodec{
		{Greeting: AppendCommand(nil, "PING")},
		{Greeting: []byte("*1\r\n$4\r\nPIN"), Skip: errSkip},
		{Greeting: []byte("*0\r\n"), Skip: errSkip},
		{Greeting: []byte("*x\r\n"), Skip: errSkip},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is sent", c.Greeting)
				}
			}()
			c.AppendRequest(nil, &Request{})
		}()
	}
}

func TestServerErrors(t *testing.T) {
	for in, want := range map[string]string{"-ERR a\r\n": "ERR a", "!3\r\na\nb\r\n": "a\nb", "+OK\r\n": ""} {
		var v Value
		DecodeReply([]byte(in), &v, Limits{})
		var said ServerError
		if errors.As(v.Err(), &said); string(said) != want {
			t.Errorf("%q: %v", in, v.Err())
		}
	}
}

// TestClientAllocatesNothing makes requests and decodes replies, whole and in pieces, and pushes.
func TestClientAllocatesNothing(t *testing.T) {
	key, value := []byte("key"), make([]byte, 32)
	keys := args("a", "b", "c", "d", "e", "f")
	out := make([]byte, 0, 1<<10)
	in := []byte("$5\r\nhello\r\n-ERR x\r\n>2\r\n+a\r\n+b\r\n*2\r\n%1\r\n+a\r\n*1\r\n:1\r\n,1.5\r\n:7\r\n")
	pushes := 0
	for _, piece := range []int{1 << 10, 3} {
		c := ClientCodec{Skip: errSkip, OnPush: func(Value) { pushes++ }}
		housetest.ZeroAlloc(t, 100_000, func(n int) {
			for range n / 10 {
				req := Cmd("SET", key, value)
				out = c.AppendRequest(out[:0], &req)
				req = Cmd("MGET")
				req.More = keys
				if len(out)+c.RequestSize(&req) > cap(out) {
					panic("a request is too long")
				}
				out = c.AppendRequest(out, &req)
				for at, came := 0, 0; at < len(in); {
					var v Value
					n, err := c.Decode(in[at:came], &v)
					if at += n; n == 0 {
						if err != nil || came == len(in) {
							panic("a good reply is refused")
						}
						came = min(len(in), came+piece)
					}
				}
			}
		})
	}
	if pushes == 0 {
		t.Error("no push has come")
	}
}

// One op is one reply of 32 bytes decoded, of 16 in the input.
func BenchmarkReplyDecoder(b *testing.B) {
	var in []byte
	for range pipelined {
		in = AppendBulk(in, make([]byte, 32))
	}
	for name, decode := range map[string]func(*ReplyDecoder, []byte, *Value) (int, error){
		"resumes":    (*ReplyDecoder).Decode,
		"begins_new": func(_ *ReplyDecoder, in []byte, v *Value) (int, error) { return DecodeReply(in, v, Limits{}) },
	} {
		b.Run(name, func(b *testing.B) {
			var d ReplyDecoder
			var v Value
			rest := in
			for b.Loop() {
				n, err := decode(&d, rest, &v)
				if n == 0 || err != nil {
					b.Fatal(n, err)
				}
				if rest = rest[n:]; len(rest) == 0 {
					rest = in
				}
			}
		})
	}
}
