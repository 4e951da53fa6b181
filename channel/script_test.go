package channel_test

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/script"
)

// TestScripts plays what testdata tells of the requests of one connection. Below each line is what
// came of it: which handlers began, what the client got, and which requests were cancelled. The
// lines:
//
//	server [by number] [InflightMax=N] [WorkMax=N] [OutputMax=N]   before all else
//	send NAME...          the client sends requests
//	answer NAME..., fail NAME..., last NAME...    their handlers end
//	part NAME             the handler offers a part, and goes on when there is room
//	push NAME             the handler sends a message that answers nothing
//	end, break            the client ends its side, or breaks the connection
//	drain, close          the server does
//
// A request whose name ends with a bang must be alone, and so must one that ends with a plus: that
// is a part of a request, whose result is empty, and for which nothing is written.
func TestScripts(t *testing.T) {
	script.Files(t, "testdata/*.txt", func(t *testing.T) func(string) string {
		return (&scene{t: t, gates: map[string]gate{}, does: map[string]string{}, open: map[string]string{}}).play
	})
}

// gate is an actor that handlers ask, and that answers when it isn't paused.
type gate struct {
	at   core.Address[core.Function[string, string]]
	port core.Port[string, string]
}

// scene is where a script is played.
type scene struct {
	t      *testing.T
	sim    *housetest.Sim
	server *channel.Server[spoken, string]
	peer   *housetest.Peer
	gates  map[string]gate   // what handlers wait for
	does   map[string]string // what they are to do then
	open   map[string]string // requests: "", begun, or ended
	lines  []string
	over   bool // the client knows that the connection is
}

// spoken is a request: its name.
type spoken struct {
	name  []byte
	scene *scene
}

// Release notes that a request is out.
func (r *spoken) Release() {
	if r.scene == nil {
		return
	}
	name := string(r.name)
	switch r.scene.open[name] {
	case "":
		r.scene.did("never begins:", name)
	case "begun":
		r.scene.did("cancelled:", name)
	}
	delete(r.scene.open, name)
}

// speech is the protocol: lines.
type speech struct {
	scene *scene
	lines lineCodec
}

func (c *speech) Decode(in []byte, req *spoken) (n int, err error) {
	var line request
	if n, err = c.lines.Decode(in, &line); n > 0 && err == nil {
		req.name, req.scene = line.line, c.scene
		c.scene.open[string(line.line)] = ""
	}
	return n, err
}

func (c *speech) Alone(req *spoken) bool { return strings.ContainsAny(string(req.name), "!+") }

func (c *speech) Need() int { return c.lines.Need() }

func (c *speech) Size(rep *string, err error) int { return 100 }

func (c *speech) Encode(out []byte, rep *string, err error) []byte {
	switch {
	case err != nil:
		return append(out, "an error\n"...)
	case *rep == "":
		return out
	}
	return append(append(out, *rep...), '\n')
}

func (c *speech) Refuse(out []byte, err error) []byte { return c.lines.Refuse(out, err) }

// numberSpeech names in each result the request. So in a script the name is the number.
type numberSpeech struct {
	speech
	answering string
}

func (c *numberSpeech) Answering(req *spoken) {
	if c.answering = "nothing"; req != nil {
		c.answering = string(req.name)
	}
}

func (c *numberSpeech) Encode(out []byte, rep *string, err error) []byte {
	return c.speech.Encode(append(out, c.answering+": "...), rep, err)
}

// player is the front.
type player struct{ scene *scene }

type playStack struct {
	core.ChannelStack[spoken, string]
	cue  core.Future[string]
	room core.Future[core.Room]
}

var playServe = channel.Handle((*player).serve)

func (p *player) serve(s *playStack) core.Yield {
	p.scene.did("begins:", string(s.Req.name))
	p.scene.open[string(s.Req.name)] = "begun"
	return p.wait(s)
}

func (p *player) wait(s *playStack) core.Yield {
	p.scene.gates[string(s.Req.name)].port.Ask(s, &s.cue, string(s.Req.name))
	return core.Suspend(s, (*player).goOn)
}

func (p *player) goOn(s *playStack) core.Yield {
	cue, err := s.cue.Get()
	if err != nil {
		return s.Throw(err)
	}
	name := string(s.Req.name)
	switch cue {
	case "part":
		s.Part(&s.room, "part of "+name)
		return core.Suspend(s, (*player).wait)
	case "push":
		require.NoError(p.scene.t, s.Peer().Notice(s, "a message"))
		return p.wait(s)
	}
	p.scene.open[name] = "ended"
	if strings.HasSuffix(name, "+") {
		name = ""
	}
	switch cue {
	case "fail":
		return s.Throw(errMark)
	case "last":
		return s.ReturnLast(name)
	}
	return s.Return(name)
}

// did notes what happens to a request, behind what just happened alike.
func (p *scene) did(what, name string) {
	if last := len(p.lines) - 1; last >= 0 && strings.HasPrefix(p.lines[last], what) {
		p.lines[last] += " " + name
	} else {
		p.lines = append(p.lines, what+" "+name)
	}
}

func (p *scene) play(line string) string {
	f := strings.Fields(line)
	if f[0] == "server" {
		p.begin(line, f[1:])
		return ""
	}
	switch f[0] {
	case "send":
		for _, name := range f[1:] {
			p.gate(name)
		}
		text := strings.Join(f[1:], "\n") + "\n"
		require.Equal(p.t, len(text), p.peer.Write([]byte(text)), line)
	case "answer", "fail", "last", "part", "push":
		for _, name := range f[1:] {
			gate := p.gates[name]
			require.NotNil(p.t, gate, line)
			p.does[name] = f[0]
			p.gate(name) // for what it does next
			gate.at.Continue()
			p.sim.Rest()
		}
	case "end":
		p.peer.End()
	case "break":
		p.peer.Reset()
	case "drain":
		channel.BeginDrain(p.server)
	case "close":
		require.NoError(p.t, p.server.Close(p.t.Context()))
	default:
		require.Fail(p.t, "a script has the line "+line)
	}
	p.sim.Run(time.Millisecond)
	return p.cameOf()
}

// gate has the handler of a request wait.
func (p *scene) gate(name string) {
	var g gate
	g.at, g.port = core.SpawnFunc(p.sim, func(s *core.AskStack[string, string]) core.Yield { return s.Return(p.does[s.Req]) })
	p.gates[name] = g
	g.at.Pause()
}

// begin makes the server, and connects.
func (p *scene) begin(line string, settings []string) {
	c := channel.Config[spoken, string]{Network: "tcp", Address: "127.0.0.1:80", Codec: func() channel.Codec[spoken, string] { return &speech{scene: p} }}
	if len(settings) > 1 && settings[0] == "by" {
		settings = settings[2:]
		c.Codec = func() channel.Codec[spoken, string] { return &numberSpeech{speech: speech{scene: p}} }
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		field := map[string]*int{"InflightMax": &c.InflightMax, "WorkMax": &c.WorkMax, "OutputMax": &c.OutputMax}[name]
		require.NotNil(p.t, field, line)
		_, err := fmt.Sscan(value, field)
		require.NoError(p.t, err, line)
	}
	p.sim = housetest.New(p.t, 1, house.Config{Workers: 1, AskTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	at := core.Spawn(p.sim, func() *player { return &player{p} })
	var err error
	p.server, err = channel.Listen(p.t.Context(), c, playServe, at)
	require.NoError(p.t, err)
	p.peer = p.sim.Net.Dial("127.0.0.1:80")
	p.sim.Run(time.Millisecond)
}

// cameOf returns what has happened since.
func (p *scene) cameOf() string {
	if got := strings.TrimSuffix(string(p.peer.Read(1<<20)), "\n"); got != "" {
		p.lines = append(p.lines, "client gets "+strings.ReplaceAll(got, "\n", ", "))
	}
	if err := p.peer.Err(); err != nil && !p.over {
		p.over = true
		if err == io.EOF {
			p.lines = append(p.lines, "client reads the end")
		} else {
			p.lines = append(p.lines, "the connection is broken")
		}
	}
	lines := p.lines
	p.lines = nil
	return strings.Join(lines, "\n")
}
