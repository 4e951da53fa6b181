//go:build !linux || portable

package netio

import "errors"

// MayEntrust fails: this poller watches no others.
func (p *Poller) MayEntrust(by *Poller, h Handler) error { return errors.ErrUnsupported }

// Entrust fails.
func (p *Poller) Entrust() error { return errors.ErrUnsupported }

// TakeBack fails.
func (p *Poller) TakeBack() error { return errors.ErrUnsupported }

// Ready reports nothing: nobody asks who can't be entrusted.
func (p *Poller) Ready() bool { return false }

// CanNap reports false: events end WaitForWake too.
func (p *Poller) CanNap() bool { return false }

// WaitForWake is Wait: events end it too.
func (p *Poller) WaitForWake(ns int64) (woken bool, err error) { return true, p.Wait(ns) }
