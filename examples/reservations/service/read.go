package service

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// keyMax and skuMax are how long a key and the name of an item may be.
const (
	keyMax = 128
	skuMax = 64
)

// readQuantity reads a request with a body, {"quantity":n}.
func readQuantity(w http.ResponseWriter, r *http.Request, kind ledger.Kind, least int64) (op ledger.Op, err error) {
	op.Kind = kind
	if op.SKU, err = readSKU(r); err != nil {
		return op, err
	}
	if op.Key, err = readKey(r); err != nil {
		return op, err
	}
	quantity, err := readBody(http.MaxBytesReader(w, r.Body, bodyMax), true)
	if err != nil {
		return op, err
	}
	if quantity == nil || *quantity < least || *quantity > ledger.QuantityMax {
		return op, errBadQuantity
	}
	op.Quantity = *quantity
	return op, nil
}

// readNothing reads a request that asks for nothing by its body: that is empty, or {}.
func readNothing(w http.ResponseWriter, r *http.Request) error {
	body := bufio.NewReader(http.MaxBytesReader(w, r.Body, bodyMax))
	if _, err := body.Peek(1); err == io.EOF {
		return nil
	}
	_, err := readBody(body, false)
	return err
}

// readBody reads one JSON object and nothing behind it, with a quantity or without fields. It takes
// a field once, and spelled as it is documented: what one reader would understand in one way and
// another in another is refused.
func readBody(body io.Reader, takesQuantity bool) (quantity *int64, err error) {
	defer func() {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			err = errBodyTooLarge
		}
	}()
	d := json.NewDecoder(body)
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.Join(errBadBody, err)
	}
	for given := false; d.More(); given = true {
		name, err := d.Token()
		switch {
		case err != nil:
			return nil, errors.Join(errBadBody, err)
		case name != "quantity" || !takesQuantity:
			return nil, errUnknownField
		case given:
			return nil, errFieldTwice
		}
		if err := d.Decode(&quantity); err != nil {
			return nil, errors.Join(errBadBody, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.Join(errBadBody, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.Join(errBadBody, err)
	}
	return quantity, nil
}

// readSKU takes the name of an item: letters, digits, and . _ - within.
func readSKU(r *http.Request) (string, error) {
	sku := r.PathValue("sku")
	if sku == "" || len(sku) > skuMax {
		return "", errBadSKU
	}
	for _, c := range []byte(sku) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._-", c) >= 0) {
			return "", errBadSKU
		}
	}
	return sku, nil
}

// readKey takes the one Idempotency-Key: visible ASCII.
func readKey(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return "", errKeyMissing
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > keyMax {
		return "", errBadKey
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return "", errBadKey
		}
	}
	return key, nil
}

// readID takes a reservation's id, which names its partition: 1-42 is number 42 of partition 1.
func readID(r *http.Request, partitions int) (partition int, number int64, err error) {
	left, right, _ := strings.Cut(r.PathValue("id"), "-")
	p, ok := readNumber(left)
	n, fine := readNumber(right)
	if !ok || !fine || n == 0 {
		return 0, 0, errBadID
	}
	if p >= int64(partitions) {
		return 0, 0, ledger.UnknownReservation
	}
	return int(p), n, nil
}

// readNumber takes digits only, without leading zeros: one id has one spelling.
func readNumber(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text && n >= 0
}
