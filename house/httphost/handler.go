package httphost

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// Handler is an http.Handler that asks a port. Port, Read and Write must be set. It may be copied;
// don't change its fields once it serves. Several goroutines call its functions at once.
type Handler[Req, Rep any] struct {
	Port core.Port[Req, Rep]

	// Read makes the request for the port. If it returns an error, Fail answers with it: an *Error
	// or an *http.MaxBytesError (from http.MaxBytesReader) as it is, any other as an *Error with
	// status 400 and its text.
	Read func(w http.ResponseWriter, r *http.Request) (Req, error)

	// Write answers. The reply, and what it refers to, is valid until Write returns.
	Write func(w http.ResponseWriter, r *http.Request, rep *Rep)

	// Limit is how long an ask may take; an earlier deadline of the request's context holds. 0:
	// only that deadline or, without one, house.Config.AskTimeout.
	Limit time.Duration

	// Fail answers if the ask or Read has failed. nil: the function Fail does.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

// ServeHTTP asks the port on the goroutine that calls it. If the client goes, or the server is
// closed, the ask is given up.
func (h Handler[Req, Rep]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := h.Read(w, r)
	if err != nil {
		h.fail(w, r, unread(err))
		return
	}
	ctx := r.Context()
	if h.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.Limit)
		defer cancel()
	}
	if err := core.AskInto(ctx, h.Port, req, func(rep *Rep) { h.Write(w, r, rep) }); err != nil {
		h.fail(w, r, err)
	}
}

func (h Handler[Req, Rep]) fail(w http.ResponseWriter, r *http.Request, err error) {
	if h.Fail != nil {
		h.Fail(w, r, err)
	} else {
		Fail(w, r, err)
	}
}

// Error is an error with an HTTP status and a text that clients see: from Read, or thrown by an
// actor.
type Error struct {
	Status int
	Text   string
}

// Error returns Text.
func (e *Error) Error() string { return e.Text }

// unread returns the error with which an error of Read is answered.
func unread(err error) error {
	var known *Error
	var long *http.MaxBytesError
	if errors.As(err, &known) || errors.As(err, &long) {
		return err
	}
	return &Error{http.StatusBadRequest, err.Error()}
}

// Fail answers with the Status of err and a line of text: that of an *Error, otherwise the standard
// text of the status. With status 503 it sets Retry-After: 1.
func Fail(w http.ResponseWriter, _ *http.Request, err error) {
	status := Status(err)
	text := http.StatusText(status)
	var known *Error
	if errors.As(err, &known) {
		text = known.Text
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, text, status)
}

// Status returns the HTTP status for the error of an ask: 504 if there was no answer in time; 503
// if the ask wasn't tried or may be tried again, as the actor is overloaded, was restarted or has
// stopped, or if the client has gone; the Status of an *Error; 413 for an *http.MaxBytesError;
// otherwise 500.
func Status(err error) int {
	var known *Error
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return known.Status
	case errors.As(err, &long):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, core.ErrOverloaded), errors.Is(err, core.ErrMailboxFull), errors.Is(err, core.ErrRestarted), errors.Is(err, core.ErrStopped),
		errors.Is(err, core.ErrNoMember), errors.Is(err, core.ErrNotStarted), errors.Is(err, core.ErrCancelled):
		return http.StatusServiceUnavailable
	case errors.Is(err, core.ErrTimeout):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
