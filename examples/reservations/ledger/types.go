package ledger

// Kind is what an operation does.
type Kind uint8

// Operations. The last two change nothing and need no key: they are Look's, the others Apply's.
const (
	SetStock        Kind = iota + 1 // how many pieces of an item there are in all
	Reserve                         // hold some pieces of an item
	Confirm                         // a held reservation is for good
	Release                         // a held reservation is given back
	LookItem                        // see an item
	LookReservation                 // see a reservation
)

// Op is an operation that a client wants. Two are the same request if they are equal.
type Op struct {
	Kind     Kind   `json:"kind"`
	Key      string `json:"key"`                // by which the client repeats it
	SKU      string `json:"sku,omitempty"`      // of SetStock, Reserve, LookItem
	Number   int64  `json:"number,omitempty"`   // of Confirm, Release, LookReservation
	Quantity int64  `json:"quantity,omitempty"` // of SetStock, Reserve
}

// QuantityMax bounds a quantity, so that no sum of a few overflows.
const QuantityMax = 1_000_000_000

// Item is one line of the catalogue.
//
// Invariant: 0 <= Held, 0 <= Confirmed, Held+Confirmed <= Stock <= QuantityMax.
type Item struct {
	SKU       string `json:"sku"`
	Stock     int64  `json:"stock"`
	Held      int64  `json:"held"`      // by reservations that are neither confirmed nor released
	Confirmed int64  `json:"confirmed"` // for good
}

// Available is how many pieces can be reserved.
func (i Item) Available() int64 { return i.Stock - i.Held - i.Confirmed }

// State is where a reservation stands:
//
//	Held       its pieces are taken; Confirm, Release and the end of its time lead on
//	Confirmed  for good
//	Released   its pieces are given back, for good: it was released, or its time was up
type State string

// States of a reservation.
const (
	Held      State = "held"
	Confirmed State = "confirmed"
	Released  State = "released"
)

// Reservation is some pieces of an item.
type Reservation struct {
	Number   int64  `json:"number"` // unique in its partition
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
	State    State  `json:"state"`
	At       int64  `json:"at"` // when it came to State, ns since 1970
}

// Answer is what an operation gives: SetStock and LookItem an item, the others a
// reservation, as it was then.
type Answer struct {
	Item        Item        `json:"item,omitzero"`
	Reservation Reservation `json:"reservation,omitzero"`
}

// Outcome is a change that was made, kept so that its repetition makes no other.
type Outcome struct {
	Seq    int64  `json:"seq"` // its place among the partition's changes
	At     int64  `json:"at"`  // when it was made, ns since 1970
	Op     Op     `json:"op"`
	Answer Answer `json:"answer"`
}

// Snapshot is all that the store has of a partition, in any order.
type Snapshot struct {
	Seq          int64 // of the last change
	Items        []Item
	Reservations []Reservation
	Outcomes     []Outcome
}

// Change is what one write makes of a snapshot. No item or reservation stands in it twice.
type Change struct {
	Seq          int64         // of the last change in it
	Items        []Item        // as they are now
	Reservations []Reservation // as they are now
	Outcomes     []Outcome     // new ones
	Forget       []int64       // reservations to remove
	ForgetUpTo   int64         // remove outcomes whose Seq is at most this
}
