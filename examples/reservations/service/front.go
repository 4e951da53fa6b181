package service

import (
	"context"
	"hash/fnv"
	"net/http"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/core"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
)

// What a client may send, and how slowly.
const (
	bodyMax    = 1 << 10
	headerMax  = 8 << 10
	headerTime = 5 * time.Second
	bodyTime   = 10 * time.Second // with the header
	idleTime   = 2 * time.Minute
)

func (s *Service) newServer() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/items/{sku}", s.lookItem)
	mux.HandleFunc("PUT /v1/items/{sku}/stock", s.setStock)
	mux.HandleFunc("POST /v1/items/{sku}/reservations", s.reserve)
	mux.HandleFunc("GET /v1/reservations/{id}", s.lookReservation)
	mux.HandleFunc("POST /v1/reservations/{id}/confirm", s.end(ledger.Confirm))
	mux.HandleFunc("POST /v1/reservations/{id}/release", s.end(ledger.Release))
	mux.HandleFunc("GET /v1/counts", s.lookCounts)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fail(w, errNoSuchPath) })
	return &http.Server{
		Handler:           s.guard(mux),
		MaxHeaderBytes:    headerMax,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		WriteTimeout:      bodyTime + s.config.RequestLimit,
		IdleTimeout:       idleTime,
	}
}

func (s *Service) lookItem(w http.ResponseWriter, r *http.Request) {
	sku, err := readSKU(r)
	s.look(w, r, s.partitionOf(sku), ledger.Op{Kind: ledger.LookItem, SKU: sku}, err)
}

func (s *Service) setStock(w http.ResponseWriter, r *http.Request) {
	op, err := readQuantity(w, r, ledger.SetStock, 0)
	s.do(w, r, http.StatusOK, s.partitionOf(op.SKU), op, err)
}

func (s *Service) reserve(w http.ResponseWriter, r *http.Request) {
	op, err := readQuantity(w, r, ledger.Reserve, 1)
	s.do(w, r, http.StatusCreated, s.partitionOf(op.SKU), op, err)
}

func (s *Service) lookReservation(w http.ResponseWriter, r *http.Request) {
	partition, number, err := readID(r, len(s.partitions))
	s.look(w, r, partition, ledger.Op{Kind: ledger.LookReservation, Number: number}, err)
}

// end answers confirm or release.
func (s *Service) end(kind ledger.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		partition, number, err := readID(r, len(s.partitions))
		key, keyErr := readKey(r)
		if err == nil {
			err = keyErr
		}
		if err == nil {
			err = readNothing(w, r)
		}
		s.do(w, r, http.StatusOK, partition, ledger.Op{Kind: kind, Key: key, Number: number}, err)
	}
}

func (s *Service) lookCounts(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), s.config.RequestLimit)
	defer cancel()
	counts, err := s.Counts(ctx)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, counts)
}

// look is do for what changes nothing. An answer from memory alone, as the store is away, says how
// old it is, in whole seconds that have begun.
func (s *Service) look(w http.ResponseWriter, r *http.Request, partition int, op ledger.Op, bad error) {
	if bad != nil {
		fail(w, bad)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.config.RequestLimit)
	defer cancel()
	seen, err := core.Ask(ctx, s.partitions[partition].look, op)
	if err != nil {
		fail(w, err)
		return
	}
	if seen.Age > 0 {
		w.Header().Set("Age", strconv.FormatInt(int64((seen.Age+time.Second-1)/time.Second), 10))
	}
	reply(w, http.StatusOK, show(partition, seen.Answer))
}

// do asks the partition for a change, unless the request was bad, and writes the reply.
func (s *Service) do(w http.ResponseWriter, r *http.Request, status, partition int, op ledger.Op, bad error) {
	if bad != nil {
		fail(w, bad)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.config.RequestLimit)
	defer cancel()
	answer, err := core.Ask(ctx, s.partitions[partition].change, Request{Op: op})
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, status, show(partition, answer))
}

// partitionOf is where an item is kept, for ever: see store.ErrPartitions.
func (s *Service) partitionOf(sku string) int {
	h := fnv.New32a()
	h.Write([]byte(sku))
	return int(h.Sum32() % uint32(len(s.partitions)))
}
