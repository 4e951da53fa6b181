package resp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

var _ channel.ClientCodec[resp.Request, resp.Value] = &resp.ClientCodec{}
var _ channel.Alone[resp.Request] = &resp.ClientCodec{}

// greeting is what each connection of these tests begins with.
var greeting = resp.AppendCommand(nil, "HELLO", "3")

// toServer is the settings of a client of a server at address.
func toServer(network, address string, pushes *int) channel.ClientConfig[resp.Request, resp.Value] {
	return channel.ClientConfig[resp.Request, resp.Value]{Network: network, Address: address,
		Codec: func() channel.ClientCodec[resp.Request, resp.Value] {
			return &resp.ClientCodec{Greeting: greeting, Skip: channel.ErrSkip, OnPush: func(resp.Value) { *pushes++ }}
		}}
}

// A client of a server that speaks RESP3.
func ExampleClientCodec() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	door := sim.Net.Serve("10.0.0.7:6379") // in a program: a server
	client, err := channel.Dial(context.Background(), sim.System, channel.ClientConfig[resp.Request, resp.Value]{
		Network: "tcp", Address: "10.0.0.7:6379",
		Codec: func() channel.ClientCodec[resp.Request, resp.Value] {
			return &resp.ClientCodec{Greeting: greeting, Skip: channel.ErrSkip}
		},
	})
	if err != nil {
		panic(err)
	}
	asked := core.Begin(client.Port(), resp.Cmd("GET", []byte("color")))
	sim.Run(time.Second)
	for peer := door.Accept(); peer != nil; peer = door.Accept() {
		if came := peer.Read(1000); len(came) > 0 {
			fmt.Printf("%q\n", came)
			peer.Write([]byte("%1\r\n+proto\r\n:3\r\n$4\r\nblue\r\n"))
		}
	}
	sim.Run(time.Second)
	fmt.Println(asked.GetInto(func(v *resp.Value) { fmt.Printf("%s, error %v\n", v.Str, v.Err()) }))
	// Output:
	// "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*2\r\n$3\r\nGET\r\n$5\r\ncolor\r\n"
	// blue, error <nil>
	// <nil>
}

// TestScriptedServer: replies in pieces, pushes between them, errors, and what isn't a reply.
func TestScriptedServer(t *testing.T) {
	for seed := range uint64(100) {
		sim := housetest.New(t, seed, house.Config{Workers: 1})
		sim.Net.Faults = housetest.Faults{Delay: time.Millisecond, Pieces: 1 + int(seed%10), Again: int(seed % 5)}
		if sim.Net.Faults.Again == 1 {
			sim.Net.Faults.Again = 2
		}
		door := sim.Net.Serve("10.0.0.7:6379")
		pushes := 0
		client, err := channel.Dial(t.Context(), sim.System, toServer("tcp", "10.0.0.7:6379", &pushes))
		require.NoError(t, err)
		peer := door.Accept()
		require.NotNil(t, peer)

		var asks []core.Pending[resp.Value]
		for i := range 20 {
			asks = append(asks, core.Begin(client.Port(), resp.Cmd("GET", []byte(strconv.Itoa(i)))))
		}
		came := hear(sim, peer)
		want := string(greeting)
		for i := range 20 {
			want += string(resp.AppendCommand(nil, "GET", strconv.Itoa(i)))
		}
		require.Equal(t, want, came, "seed %d", seed)
		say(sim, peer, "%0\r\n")
		for i := range 20 {
			say(sim, peer, ">1\r\n$1\r\nx\r\n")
			if i%5 == 4 {
				say(sim, peer, "-ERR no\r\n")
			} else {
				say(sim, peer, fmt.Sprintf("*2\r\n:%d\r\n*1\r\n$3\r\nabc\r\n", i))
			}
		}
		for i, ask := range asks {
			require.True(t, ask.Ready(), "seed %d: reply %d", seed, i)
			require.NoError(t, ask.GetInto(func(v *resp.Value) {
				if i%5 == 4 {
					require.Equal(t, resp.ServerError("ERR no"), v.Err(), "seed %d", seed)
					return
				}
				elems := v.Elems()
				first, _ := elems.Next()
				require.Equal(t, int64(i), first.Int, "seed %d", seed)
			}))
		}
		say(sim, peer, ">0\r\n") // while nobody asks
		require.Equal(t, 21, pushes, "seed %d", seed)

		lost := core.Begin(client.Port(), resp.Cmd("PING"))
		hear(sim, peer)
		say(sim, peer, "nonsense")
		_, err = lost.Get()
		require.ErrorIs(t, err, core.ErrLost, "seed %d", seed)
		require.ErrorIs(t, err, resp.ErrReply, "seed %d", seed)
		require.NoError(t, client.Close(t.Context()))
	}
}

// hear returns what comes to peer in a second or two.
func hear(sim *housetest.Sim, peer *housetest.Peer) (all string) {
	for range 20 {
		sim.Run(100 * time.Millisecond)
		all += string(peer.Read(10_000))
	}
	return all
}

// say has peer write all of text, and it arrive.
func say(sim *housetest.Sim, peer *housetest.Peer, text string) {
	for len(text) > 0 {
		text = text[peer.Write([]byte(text)):]
		sim.Run(100 * time.Millisecond)
	}
}

// TestRedisServer talks to a redis-server, if there is one, with many requests under way.
func TestRedisServer(t *testing.T) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server")
	}
	dir, err := os.MkdirTemp("", "redis")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	server := exec.Command(binary, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(ctx))
	t.Cleanup(func() { require.NoError(t, sys.Shutdown(context.Background())) })
	pushes := 0
	var client *channel.Client[resp.Request, resp.Value]
	for client == nil { // until the server listens
		require.NoError(t, ctx.Err(), "redis-server doesn't listen: %v", err)
		client, err = channel.Dial(ctx, sys, toServer("unix", socket, &pushes))
	}

	const n = 2000
	var asks []core.Pending[resp.Value]
	for i := range n {
		key, value := []byte("key"+strconv.Itoa(i)), make([]byte, i*i%50_000)
		asks = append(asks, core.Begin(client.Port(), resp.Cmd("SET", key, value)))
		if len(asks) == 100 {
			for _, ask := range asks {
				require.NoError(t, ask.GetInto(func(v *resp.Value) { require.Equal(t, "OK", string(v.Str)) }))
			}
			asks = asks[:0]
		}
	}
	mget := resp.Cmd("MGET")
	for i := range n {
		mget.More = append(mget.More, []byte("key"+strconv.Itoa(i)))
	}
	require.NoError(t, core.AskInto(ctx, client.Port(), mget, func(v *resp.Value) {
		require.Equal(t, int64(n), v.Int)
		i, elems := 0, v.Elems()
		for elem, ok := elems.Next(); ok; elem, ok = elems.Next() {
			require.Len(t, elem.Str, i*i%50_000)
			i++
		}
	}))
	wrong := func(v *resp.Value) {
		var said resp.ServerError
		require.True(t, errors.As(v.Err(), &said))
		require.Contains(t, string(said), "WRONGTYPE")
	}
	require.NoError(t, core.AskInto(ctx, client.Port(), resp.Cmd("LPUSH", []byte("key1"), []byte("x")), wrong))
	require.NoError(t, core.AskInto(ctx, client.Port(), resp.Cmd("CONFIG", []byte("GET"), []byte("save")), func(v *resp.Value) {
		require.Equal(t, resp.KindMap, v.Kind, "the connection speaks RESP3")
	}))
	waits := resp.Cmd("BLPOP", []byte("list"), []byte("0.01"))
	waits.Blocks = true
	require.NoError(t, core.AskInto(ctx, client.Port(), waits, func(v *resp.Value) { require.True(t, v.IsNil()) }))
	require.NoError(t, client.Close(ctx))
}
