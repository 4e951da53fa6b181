package core

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// HookStack is one hook of an actor's life in progress. A hook ends with Return or Throw, or asks
// and ends its step with Suspend. The futures that it asks into are fields of the actor. Nothing
// else of the actor runs until the hook has ended.
type HookStack struct {
	told
	state stack.HookState
}

// Cause returns the failure for which the actor restarts; nil in a first start and in a stop.
func (s *HookStack) Cause() error { return s.state.Cause() }

// Starter is implemented by actors that prepare themselves.
type Starter interface {
	// PreStart runs in a turn of the actor's worker; messages wait until it has ended. A Throw or a
	// panic is a failure of the start: the supervisor gets it as a *StartError, and stops the actor
	// unless its strategy says otherwise. If the actor is stopped while the hook is suspended, the
	// hook isn't resumed, and PostStop runs at once, as after a failure.
	PreStart(s *HookStack) Yield
}

// Stopper is implemented by actors that clean up.
type Stopper interface {
	// PostStop runs once for each instance, in a turn of the actor's worker, when every stack of
	// the actor has ended and its children have stopped. A Throw or a panic is reported, but the
	// actor stops all the same.
	PostStop(s *HookStack) Yield
}

// PreRestarter is implemented by actors that clean up before a restart otherwise than before a
// stop.
type PreRestarter interface {
	// PreRestart runs in place of PostStop in the instance that failed; s.Cause is the failure.
	PreRestart(s *HookStack) Yield
}

// PostRestarter is implemented by actors that prepare themselves after a restart otherwise than at
// the first start.
type PostRestarter interface {
	// PostRestart runs in place of PreStart in the new instance; s.Cause is the failure.
	PostRestart(s *HookStack) Yield
}

// refuseFalseHooks panics if an actor has a method with the name of a hook but another signature:
// it would never be called. The names are looked up as constants: with variables the linker would
// keep all methods of all types.
func refuseFalseHooks(actor reflect.Type) {
	a := reflect.PointerTo(actor)
	check := func(name string, has bool, hook reflect.Type) {
		if has && !a.Implements(hook) {
			panic(fmt.Sprintf("core: (%v).%s is no hook: that takes a *core.HookStack and returns a core.Yield", a, name))
		}
	}
	_, has := a.MethodByName("PreStart")
	check("PreStart", has, reflect.TypeFor[Starter]())
	_, has = a.MethodByName("PostStop")
	check("PostStop", has, reflect.TypeFor[Stopper]())
	_, has = a.MethodByName("PreRestart")
	check("PreRestart", has, reflect.TypeFor[PreRestarter]())
	_, has = a.MethodByName("PostRestart")
	check("PostRestart", has, reflect.TypeFor[PostRestarter]())
}

// hooks holds the handlers of each type of actor that has hooks.
var hooks sync.Map

// hooksOf returns the hooks that the actor, an *A, has.
func hooksOf[A any](actor any) *stack.Hooks {
	_, starts := actor.(Starter)
	_, stops := actor.(Stopper)
	_, ends := actor.(PreRestarter)
	_, begins := actor.(PostRestarter)
	if !starts && !stops && !ends && !begins {
		return nil
	}
	key := reflect.TypeFor[A]()
	if h, ok := hooks.Load(key); ok {
		return h.(*stack.Hooks)
	}
	h := &stack.Hooks{}
	if starts {
		h.PreStart = stack.NewHook("PreStart", stack.EntryOf(func(a *A, s *HookStack) Yield { return any(a).(Starter).PreStart(s) }))
	}
	if stops {
		h.PostStop = stack.NewHook("PostStop", stack.EntryOf(func(a *A, s *HookStack) Yield { return any(a).(Stopper).PostStop(s) }))
	}
	if ends {
		h.PreRestart = stack.NewHook("PreRestart", stack.EntryOf(func(a *A, s *HookStack) Yield { return any(a).(PreRestarter).PreRestart(s) }))
	}
	if begins {
		h.PostRestart = stack.NewHook("PostRestart", stack.EntryOf(func(a *A, s *HookStack) Yield { return any(a).(PostRestarter).PostRestart(s) }))
	}
	kept, _ := hooks.LoadOrStore(key, h)
	return kept.(*stack.Hooks)
}
