package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// badRequest is a mistake that shows before any partition is asked.
type badRequest string

func (b badRequest) Error() string { return string(b) }

const (
	errNoSuchPath   badRequest = "no_such_path"
	errBadSKU       badRequest = "bad_sku"
	errBadID        badRequest = "bad_id"
	errKeyMissing   badRequest = "key_missing"
	errBadKey       badRequest = "bad_key"
	errBadBody      badRequest = "bad_body"
	errFieldTwice   badRequest = "field_twice"
	errUnknownField badRequest = "unknown_field"
	errBadQuantity  badRequest = "bad_quantity"
	errBodyTooLarge badRequest = "body_too_large"

	errForeignHost   badRequest = "foreign_host"
	errForeignOrigin badRequest = "foreign_origin"
)

// refusals is the status and the text of what a client did wrong, or could not have.
var refusals = map[error]struct {
	status int
	text   string
}{
	errNoSuchPath:   {http.StatusNotFound, "no such path, or not with this method"},
	errBadSKU:       {http.StatusBadRequest, "an item's name is 1 to 64 letters, digits, dots, dashes and underscores"},
	errBadID:        {http.StatusBadRequest, "a reservation's id looks like 1-42"},
	errKeyMissing:   {http.StatusBadRequest, "what changes something needs the header Idempotency-Key"},
	errBadKey:       {http.StatusBadRequest, "one Idempotency-Key, of 1 to 128 visible ASCII characters"},
	errBadBody:      {http.StatusBadRequest, `the body is one JSON object, as in {"quantity":1}`},
	errFieldTwice:   {http.StatusBadRequest, "a field of the body is given twice"},
	errUnknownField: {http.StatusBadRequest, "a field of the body has no meaning; names are spelled as documented, in small letters"},
	errBadQuantity:  {http.StatusBadRequest, "a quantity is a whole number from 1, or 0 for stock, to 1000000000"},
	errBodyTooLarge: {http.StatusRequestEntityTooLarge, "the body is too large"},

	errForeignHost:   {http.StatusForbidden, "the service isn't called that; its flag -hosts says what it is called"},
	errForeignOrigin: {http.StatusForbidden, "a page of another origin has sent this"},

	ledger.UnknownItem:        {http.StatusNotFound, "no such item"},
	ledger.UnknownReservation: {http.StatusNotFound, "no such reservation, or it ended long ago"},
	ledger.OutOfStock:         {http.StatusConflict, "fewer are available"},
	ledger.NotHeld:            {http.StatusConflict, "the reservation was confirmed or released before, or its time was up"},
	ledger.StockBelowReserved: {http.StatusConflict, "more are held and confirmed"},
	ledger.TooManyItems:       {http.StatusConflict, "the catalogue is full"},
	ledger.TooManyOutcomes:    {http.StatusServiceUnavailable, "as many outcomes are remembered as may be; this request was not tried"},
	ledger.KeyReused:          {http.StatusUnprocessableEntity, "the Idempotency-Key was used for another request"},
}

// failure is a reply that is no answer.
type failure struct {
	Code string `json:"error"`
	Text string `json:"message"`
}

// fail writes why there is no answer.
func fail(w http.ResponseWriter, err error) {
	for sentinel, r := range refusals {
		if errors.Is(err, sentinel) {
			reply(w, r.status, failure{sentinel.Error(), r.text})
			return
		}
	}
	status, f := outage(err)
	reply(w, status, f)
}

// outage is the status of what the client can't help. Repeating it, with the same key, is safe.
func outage(err error) (int, failure) {
	switch {
	case errors.Is(err, ErrUnknown):
		return http.StatusServiceUnavailable, failure{"outcome_unknown", "the store failed; repeat with the same Idempotency-Key to find out"}
	case errors.Is(err, ErrStoreDown):
		return http.StatusServiceUnavailable, failure{"store_down", "the store can't be reached; this request was not tried"}
	case errors.Is(err, ErrLost):
		return http.StatusServiceUnavailable, failure{"not_owner", "another process has taken over; this request was not tried"}
	case isFull(err):
		return http.StatusServiceUnavailable, failure{"overloaded", "too many requests wait; this one was not tried"}
	case errors.Is(err, core.ErrRestarted):
		return http.StatusServiceUnavailable, failure{"restarted", "the partition failed and begins anew; repeat with the same Idempotency-Key to find out"}
	case errors.Is(err, core.ErrStopped):
		return http.StatusServiceUnavailable, failure{"stopping", "the service stops; repeat with the same Idempotency-Key"}
	case errors.Is(err, core.ErrTimeout), errors.Is(err, core.ErrCancelled):
		return http.StatusGatewayTimeout, failure{"timeout", "no outcome in time; repeat with the same Idempotency-Key to find out"}
	}
	return http.StatusInternalServerError, failure{"internal", "repeat with the same Idempotency-Key to find out what became of it"}
}

// isFull reports whether a request was refused because too many wait, in the round or before the
// partition.
func isFull(err error) bool {
	return errors.Is(err, core.ErrOverloaded) || errors.Is(err, core.ErrMailboxFull)
}

// What clients see of items and reservations.
type (
	shownItem struct {
		ledger.Item
		Available int64 `json:"available"`
	}
	shownReservation struct {
		ID       string       `json:"id"`
		SKU      string       `json:"sku"`
		Quantity int64        `json:"quantity"`
		State    ledger.State `json:"state"`
	}
)

func show(partition int, a ledger.Answer) any {
	if r := a.Reservation; r.Number != 0 {
		return shownReservation{fmt.Sprintf("%d-%d", partition, r.Number), r.SKU, r.Quantity, r.State}
	}
	return shownItem{a.Item, a.Item.Available()}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) // an error means that the client has gone
}
