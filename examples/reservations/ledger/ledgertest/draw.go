package ledgertest

import (
	"fmt"
	"math/rand/v2"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// Draw makes an operation, on few items, keys, and the reservations before seq, so that they meet.
func Draw(rng *rand.Rand, seq int64) ledger.Op {
	op := ledger.Op{Kind: ledger.Kind(1 + rng.IntN(6))}
	if op.Kind < ledger.LookItem {
		op.Key = fmt.Sprint("key", rng.IntN(300))
	}
	switch op.Kind {
	case ledger.SetStock, ledger.Reserve, ledger.LookItem:
		op.SKU = fmt.Sprint("item", rng.IntN(4))
	default:
		op.Number = max(1, seq-rng.Int64N(40))
	}
	switch op.Kind {
	case ledger.SetStock:
		op.Quantity = rng.Int64N(60)
	case ledger.Reserve:
		op.Quantity = 1 + rng.Int64N(5)
	}
	return op
}
