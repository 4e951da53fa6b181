package channel_test

import (
	"math/rand/v2"
	"time"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// serverPlan decides one run of a server and its customers.
type serverPlan struct {
	Customers []customerPlan
	Moments   int // in each of which one of the customers acts, before all is healed
	Faults    housetest.Faults
	Limits    serverLimits
	Steps     int // steps take less than so long, ns; 0: no time
	Workers   int
	Budget    int
	Untraced  bool
	Whims     int    // of stages; 0: there are no stages
	Unordered bool   // results go by number
	Alone     bool   // some requests must be alone
	Seed      uint64 `shrink:"-"`
}

// serverLimits is settings of a server. 0: a usual one, and no timeout but after hours.
type serverLimits struct {
	InflightMax, RequestsMax, ReadSize, InputMax, OutputMax, ConnsMax int
	IdleTimeout, RequestTimeout                                       time.Duration
}

// limit draws a limit of at most most: often none, or 1.
func limit(rng *rand.Rand, most int) int {
	if rng.IntN(5) == 0 {
		return 1
	}
	return max(0, rng.IntN(2*most)-most)
}

// short draws, once in so many times, a short time.
func short(rng *rand.Rand, once, bits int) time.Duration {
	if rng.IntN(once) > 0 {
		return 0
	}
	return shortest + time.Duration(rng.IntN(1<<rng.IntN(bits)))
}

// shortest is more than a turn of a hundred connections takes, a step each.
const shortest = 10 * time.Millisecond

func drawServer(seed uint64) serverPlan {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := serverPlan{
		Seed: seed, Workers: 1 + rng.IntN(3), Budget: rng.IntN(3), Untraced: rng.IntN(4) == 0,
		Moments: rng.IntN(3000), Steps: 1 << rng.IntN(16), Faults: housetest.Draw(rng),
		Limits: serverLimits{
			InflightMax: limit(rng, 1<<rng.IntN(6)), RequestsMax: limit(rng, 1<<rng.IntN(6)), ReadSize: limit(rng, 1<<rng.IntN(12)),
			InputMax: limit(rng, 1<<rng.IntN(20)), OutputMax: limit(rng, 1<<rng.IntN(16)),
			IdleTimeout: short(rng, 8, 27), RequestTimeout: short(rng, 6, 27),
		},
	}
	if rng.IntN(6) == 0 {
		p.Limits.ConnsMax = 1 + rng.IntN(5)
	}
	if rng.IntN(4) == 0 {
		p.Whims = rng.IntN(40)
	}
	customer := func(at, asks int) {
		p.Customers = append(p.Customers, drawCustomer(rng, len(p.Customers), at, asks))
	}
	for range 1 + rng.IntN(8) {
		at := 0
		if rng.IntN(4) == 0 {
			at = rng.IntN(p.Moments + 1)
		}
		customer(at, rng.IntN(2<<rng.IntN(6)))
	}
	if rng.IntN(5) == 0 { // many come at one moment
		at := rng.IntN(p.Moments + 1)
		for range rng.IntN(100) {
			customer(at, rng.IntN(4))
		}
	}
	drawCodec(rand.New(rand.NewPCG(seed, 5)), &p)
	return p
}

// drawCodec has results of some servers go by number, and some requests of some be alone.
func drawCodec(rng *rand.Rand, p *serverPlan) {
	p.Unordered, p.Alone = rng.IntN(3) == 0, rng.IntN(3) == 0
	if !p.Alone {
		return
	}
	for _, c := range p.Customers {
		for i := range c.Asks {
			if c.Asks[i].Do != "last" && rng.IntN(6) == 0 {
				c.Asks[i] = asked{"solo", rng.IntN(20)}
			}
		}
	}
}

func drawCustomer(rng *rand.Rand, id, at, asks int) customerPlan {
	c := customerPlan{ID: id, At: at, Deaf: rng.IntN(12) == 0}
	if rng.IntN(2) == 0 {
		c.Away = 400
	}
	if rng.IntN(8) == 0 {
		c.Half = 1 + rng.IntN(1<<rng.IntN(12))
	}
	for range asks {
		switch what := rng.IntN(25); {
		case what < 2:
			c.Asks = append(c.Asks, asked{"after", rng.IntN(20)})
		case what < 3:
			c.Asks = append(c.Asks, asked{Do: "throw"})
		case what < 5:
			c.Asks = append(c.Asks, asked{"big", rng.IntN(1 << rng.IntN(17))})
		case what < 7:
			c.Asks = append(c.Asks, asked{"long", rng.IntN(1 << rng.IntN(16))})
		case what < 8:
			c.Asks = append(c.Asks, asked{"part", rng.IntN(20)})
		case what < 9:
			c.Asks = append(c.Asks, asked{"parts", rng.IntN(1 << rng.IntN(16))})
		case what < 12:
			c.Asks = append(c.Asks, asked{"tell", rng.IntN(1 << rng.IntN(16))})
		case what < 13:
			c.Asks = append(c.Asks, asked{Do: "watch"})
		default:
			c.Asks = append(c.Asks, asked{})
		}
	}
	if rng.IntN(8) == 0 {
		c.Asks = append(c.Asks, asked{Do: "last"})
	}
	return c
}
