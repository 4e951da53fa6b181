package store

import (
	"encoding/json"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// PostgreSQL takes many rows as one array a column.

type itemColumns struct {
	sku                    []string
	stock, held, confirmed []int64
}

func (c *itemColumns) fill(items []ledger.Item) {
	for _, i := range items {
		c.sku = append(c.sku, i.SKU)
		c.stock = append(c.stock, i.Stock)
		c.held = append(c.held, i.Held)
		c.confirmed = append(c.confirmed, i.Confirmed)
	}
}

type reservationColumns struct {
	number, quantity, at []int64
	sku, state           []string
}

func (c *reservationColumns) fill(reservations []ledger.Reservation) {
	for _, r := range reservations {
		c.number = append(c.number, r.Number)
		c.sku = append(c.sku, r.SKU)
		c.quantity = append(c.quantity, r.Quantity)
		c.state = append(c.state, string(r.State))
		c.at = append(c.at, r.At)
	}
}

type outcomeColumns struct {
	seq          []int64
	key, outcome []string
}

func (c *outcomeColumns) fill(outcomes []ledger.Outcome) error {
	for _, o := range outcomes {
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		c.seq = append(c.seq, o.Seq)
		c.key = append(c.key, o.Op.Key)
		c.outcome = append(c.outcome, string(text))
	}
	return nil
}
