package ledger

// Refusal is why an operation was not done: the client's mistake, or bad luck. It has
// changed nothing. Its text is a code for programs.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Refusals.
const (
	UnknownItem        Refusal = "unknown_item"
	UnknownReservation Refusal = "unknown_reservation" // or it ended long ago
	OutOfStock         Refusal = "out_of_stock"
	NotHeld            Refusal = "not_held"             // any more
	StockBelowReserved Refusal = "stock_below_reserved" // more is held and confirmed
	TooManyItems       Refusal = "too_many_items"       // the partition is full
	// until the oldest has been kept for its time
	TooManyOutcomes Refusal = "too_many_outcomes"
	KeyReused       Refusal = "key_reused" // the key was another request's
)
