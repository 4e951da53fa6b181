package main

import "testing"

func TestSame(t *testing.T) {
	for _, test := range []struct {
		command   command
		redis, kv string
		large     bool
		want      bool
	}{
		{command{"GET", "k"}, "$1\r\na\r\n", "$1\r\na\r\n", false, true},
		{command{"GET", "k"}, "$1\r\na\r\n", "$1\r\nb\r\n", false, false},
		{command{"GET", "k"}, "$-1\r\n", "_\r\n", false, false},
		{command{"ttl", "k"}, ":100\r\n", ":99\r\n", false, true},
		{command{"TTL", "k"}, ":100\r\n", ":98\r\n", false, false},
		{command{"TTL", "k"}, ":-1\r\n", ":-2\r\n", false, false},
		{command{"TTL", "k"}, ":1\r\n", ":0\r\n", false, false},
		{command{"PTTL", "k"}, ":2000\r\n", ":1000\r\n", false, true},
		{command{"PTTL", "k"}, ":2000\r\n", ":999\r\n", false, false},
		{command{"TTL", "k"}, ":9000000000000\r\n", ":9223372035\r\n", false, true},
		{command{"TTL", "k"}, ":9000000000000\r\n", ":9000000000\r\n", false, false},
		{command{"PTTL", "k"}, ":9000000000000\r\n", ":9223372036000\r\n", false, false},
		{command{"KEYS", "*"}, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\na\r\n", false, true},
		{command{"KEYS", "*"}, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\nb\r\n", false, false},
		{command{"HKEYS", "h"}, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\na\r\n", false, false},
		{command{"HKEYS", "h"}, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*2\r\n$1\r\nb\r\n$1\r\na\r\n", true, true},
		{command{"HGETALL", "h"}, "%2\r\n+a\r\n+1\r\n+b\r\n+2\r\n", "%2\r\n+b\r\n+2\r\n+a\r\n+1\r\n", true, true},
		{command{"HGETALL", "h"}, "%2\r\n+a\r\n+1\r\n+b\r\n+2\r\n", "%2\r\n+b\r\n+1\r\n+a\r\n+2\r\n", true, false},
		{command{"HGETALL", "h"}, "%1\r\n+a\r\n+1\r\n", "*2\r\n+a\r\n+1\r\n", true, false},
		{command{"RANDOMKEY"}, "$1\r\na\r\n", "$1\r\nb\r\n", false, true},
		{command{"RANDOMKEY"}, "$1\r\na\r\n", "$-1\r\n", false, false},
		{command{"OBJECT", "idletime", "k"}, ":1\r\n", ":2\r\n", false, true},
		{command{"OBJECT", "REFCOUNT", "k"}, ":1\r\n", ":2\r\n", false, false},
		{command{"INFO", "a", "b"}, "-ERR a\r\n", "-ERR b\r\n", false, false},
		{command{"HELLO", "3"}, "%2\r\n+server\r\n+a\r\n+proto\r\n:3\r\n", "%2\r\n+server\r\n+b\r\n+proto\r\n:3\r\n", false, true},
		{command{"HELLO", "3"}, "%2\r\n+server\r\n+a\r\n+proto\r\n:3\r\n", "%2\r\n+server\r\n+a\r\n+proto\r\n:2\r\n", false, false},
		{command{"HELLO", "3"}, "%2\r\n+server\r\n+a\r\n+proto\r\n:3\r\n", "%2\r\n+proto\r\n:3\r\n+server\r\n+a\r\n", false, false},
	} {
		if got := same(test.command, []byte(test.redis), []byte(test.kv), test.large); got != test.want {
			t.Errorf("%v: %q and %q are the same: %v", test.command, test.redis, test.kv, got)
		}
	}
}

func TestCommandsAreQuoted(t *testing.T) {
	c := command{"SET", "k1", "", "two words", "a\"\\\r\n", "é"}
	if got, want := c.String(), `SET k1 "" "two words" "a\"\\\x0d\x0a" "\xc3\xa9"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
