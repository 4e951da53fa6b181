package core

import (
	"context"
	"errors"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Workers is the workers of a system as places: a house.System.
type Workers[W Place] interface{ Workers() []W }

// Replicas is one actor on each worker of a system; see Replicate. It is a value, kept in a field.
type Replicas[A any] struct{ set *replicas }

type replicas struct {
	roster roster         // those that haven't stopped
	all    []*stack.House // by worker
}

// Replicate spawns an actor on each worker of sys. The factory is called once for each, on the
// caller's goroutine. Any goroutine may call Replicate.
//
// Handler.Local asks the replica of the asker's own worker, without an atomic write; other routers
// choose among all replicas.
func Replicate[A any, W Place](sys Workers[W], factory func() *A) Replicas[A] {
	set := &replicas{}
	for _, w := range sys.Workers() {
		h := Spawn(w, factory).house
		set.all = append(set.all, h)
		set.roster.join(h)
	}
	if len(set.all) == 0 {
		panic("core: replicas in a system without workers")
	}
	return Replicas[A]{set}
}

// Len returns the number of replicas, stopped or not: one for each worker.
func (r Replicas[A]) Len() int { return len(r.here().all) }

// At returns the replica on the worker with that index; it may have stopped.
func (r Replicas[A]) At(worker int) Address[A] { return Address[A]{r.here().all[worker]} }

// All returns the replicas that haven't stopped, in the order of their workers.
func (r Replicas[A]) All() []Address[A] { return addresses[A](r.here().roster.here()) }

// Stop asks all replicas to stop; see Address.Stop.
func (r Replicas[A]) Stop() {
	for i := range r.Len() {
		r.At(i).Stop()
	}
}

// StopWait stops all replicas and waits until they have stopped or ctx ends. It
// blocks: only guests may call it.
func (r Replicas[A]) StopWait(ctx context.Context) error {
	r.Stop()
	var errs []error
	for i := range r.Len() {
		errs = append(errs, r.At(i).StopWait(ctx))
	}
	return errors.Join(errs...)
}

func (r Replicas[A]) members() *roster { return &r.here().roster }

func (r Replicas[A]) here() *replicas {
	if r.set == nil {
		panic("core: zero Replicas")
	}
	return r.set
}
