package main

import "fmt"

// record is a change that a buyer wants, and what it was answered.
type record struct {
	key, what, sku string // what is reserve, confirm or release
	id             string // of the reservation; of reserve, once it is known
	quantity       int64
	done           bool // acknowledged: it counts
}

// journal is what one buyer knows for certain. Only that buyer touches it while it runs.
type journal struct {
	records []*record
	held    []*reservation // that it may end
	all     []*reservation
	wrong   []string // what must not have happened
}

// reservation is one that was acknowledged.
type reservation struct {
	id, sku, state string
	quantity       int64
}

func (j *journal) complain(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// stand is how an item must stand.
type stand struct{ stock, held, confirmed int64 }

// sum adds up what was acknowledged, by item.
func sum(journals []*journal, stock map[string]int64) map[string]stand {
	sums := map[string]stand{}
	for sku, n := range stock {
		sums[sku] = stand{stock: n}
	}
	for _, j := range journals {
		for _, r := range j.all {
			s := sums[r.sku]
			switch r.state {
			case "held":
				s.held += r.quantity
			case "confirmed":
				s.confirmed += r.quantity
			}
			sums[r.sku] = s
		}
	}
	return sums
}
