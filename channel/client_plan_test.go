package channel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// clientPlan decides one run of a client and its server.
type clientPlan struct {
	Moments    []moment
	Faults     housetest.Faults
	Server     serverLimits
	Client     clientLimits
	AskTimeout time.Duration // a second at least; 0: the system's default
	Steps      int           // steps take less than so long, ns; 0: no time
	Workers    int
	Budget     int
	Untraced   bool
	Whims      int    // of the client's stages; 0: there are no stages
	Seed       uint64 `shrink:"-"`
}

// clientLimits is settings of a client. 0: its default.
type clientLimits struct {
	Conns, InflightMax, PendingMax, ReadSize, OutputMax int
	ConnectTimeout, ReplyTimeout                        time.Duration // 100 ms, 200 ms at least
	IdleTimeout                                         time.Duration
}

// moment is what happens next in a run of a client.
type moment struct {
	Ask     *question
	Turns   int
	Pass    time.Duration // passes then
	Restart bool          // then the server is closed, and another one begins
	Gone    time.Duration // between the two
}

// question is an ask.
type question struct {
	Do    string        // "", "throw", "long", "after", "alone"
	N     int           // bytes, or milliseconds
	By    string        // "", "passer", "caller": who asks the client's port
	Who   int           // which caller
	Limit time.Duration // a caller's; 0: none
}

func drawClient(seed uint64) clientPlan {
	rng := rand.New(rand.NewPCG(seed, 2))
	p := clientPlan{
		Seed: seed, Workers: 1 + rng.IntN(3), Budget: rng.IntN(3), Untraced: rng.IntN(4) == 0,
		Faults: housetest.Draw(rng), Steps: 1 << rng.IntN(16), AskTimeout: time.Duration(1+rng.IntN(20)) * time.Second,
		Server: serverLimits{InflightMax: limit(rng, 1<<rng.IntN(6)), OutputMax: limit(rng, 1<<rng.IntN(16)), ReadSize: limit(rng, 1<<rng.IntN(12))},
		Client: clientLimits{
			Conns: limit(rng, 4), InflightMax: limit(rng, 1<<rng.IntN(6)), PendingMax: limit(rng, 1<<rng.IntN(8)),
			ReadSize: limit(rng, 1<<rng.IntN(12)), OutputMax: limit(rng, 1<<rng.IntN(16)),
			ConnectTimeout: time.Duration(limit(rng, 1<<rng.IntN(33))), ReplyTimeout: time.Duration(limit(rng, 1<<rng.IntN(34))),
			IdleTimeout: time.Duration(limit(rng, 1<<rng.IntN(36))),
		},
	}
	if rng.IntN(4) == 0 {
		p.Whims = rng.IntN(40)
	}
	for range rng.IntN(2000) {
		m := moment{Turns: rng.IntN(4)}
		if rng.IntN(3) > 0 {
			m.Ask = drawQuestion(rng)
		}
		if rng.IntN(50) == 0 {
			m.Pass = time.Duration(rng.IntN(1 << rng.IntN(30)))
		}
		if rng.IntN(300) == 0 {
			m.Restart, m.Gone = true, time.Duration(rng.IntN(1<<rng.IntN(32)))
		}
		p.Moments = append(p.Moments, m)
	}
	return p
}

func drawQuestion(rng *rand.Rand) *question {
	q := &question{}
	switch rng.IntN(10) {
	case 0:
		q.Do = "throw"
	case 1:
		q.Do, q.N = "long", rng.IntN(4<<rng.IntN(14))
	case 2, 3:
		q.Do, q.N = "after", rng.IntN(1<<rng.IntN(12))
	case 4:
		q.Do = "alone"
	}
	switch rng.IntN(8) {
	case 0:
		q.By = "passer"
	case 1, 2, 3, 4:
		q.By, q.Who = "caller", rng.IntN(3)
		if rng.IntN(3) == 0 {
			q.Limit = time.Duration(1 + rng.Int64N(1<<rng.IntN(33)))
		}
	}
	return q
}

// lines returns the request, which is the n-th of its run, what it is answered, and the error.
func (q *question) lines(n int) (request, want, wantErr string) {
	id := fmt.Sprint(n)
	switch q.Do {
	case "throw":
		return "throw e" + id, "", "e" + id
	case "long":
		want = "x" + id + strings.Repeat("long", q.N/4)
		return want, want, ""
	case "after":
		return fmt.Sprintf("after %d late%s", q.N, id), "late" + id, ""
	case "alone":
		return "client-alone " + id, "client-alone " + id, ""
	}
	return "x" + id, "x" + id, ""
}
