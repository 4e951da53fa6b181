package main

// peersDate is when the factors of the peers were measured.
const peersDate = "November 2026"

// peer is a library that isn't run here, or only if it is asked for. What it did is in PEERS.md,
// which has the same numbers.
type peer struct {
	name    string
	library string             // its name if it is run here; "": it can't be
	factors map[string]float64 // ns/op to that of channels, by workload
}

var peers = []peer{
	{"GoAkt", "", map[string]float64{
		"tell-1-1": 3.5, "tell-8-1": 6.7, "fanout-1000": 6.3, "pingpong-1": 1.3, "pingpong-64": 1.3,
		"ask-in-actor": 5.4, "ask-guest": 2.5, "ask-64-1": 2.0, "spawn": 8.0, "skynet": 157, "ring503": 1.7,
	}},
	{"Hollywood", hollywood, map[string]float64{
		"tell-1-1": 1.5, "tell-8-1": 2.4, "fanout-1000": 7.7, "pingpong-1": 1.8, "pingpong-64": 1.2,
		"ask-guest": 5.2, "ask-64-1": 5.9, "spawn": 1.4, "skynet": 46, "ring503": 2.6,
	}},
	{"Ergo", "", map[string]float64{
		"tell-1-1": 5.2, "tell-8-1": 9.1, "fanout-1000": 9.9, "pingpong-1": 5.9, "pingpong-64": 2.3,
		"ask-guest": 4.5, "ask-64-1": 1.9, "spawn": 1.3, "skynet": 9.5, "ring503": 7.1,
	}},
}
