// Package nocompile is what the compiler must refuse. This file is in order; each
// of the others has a mistake, with the compiler's message beside it.
package nocompile

import "github.com/stackhouse-go/stackhouse/core"

type (
	Get   struct{ Key int }
	Value struct{ N int }
	Tell  struct{ N int }

	Cache  struct{ disk core.Port[Get, Value] }
	Logger struct{}

	getStack struct {
		core.AskStack[Get, Value]
		value core.Future[Value]
		count core.Future[int]
		tick  core.Future[core.Tick]
	}
	otherStack struct{ core.AskStack[Get, Value] }
	tellStack  struct{ core.NoticeStack[Tell] }
	batchStack struct {
		core.BatchAskStack[Get, Value]
	}
)

func (c *Cache) get(s *getStack) core.Yield     { return s.Return(Value{}) }
func (c *Cache) done(s *getStack) core.Yield    { return s.Return(Value{}) }
func (c *Cache) other(s *otherStack) core.Yield { return s.Return(Value{}) }
func (c *Cache) tell(s *tellStack) core.Yield   { return s.Return() }
func (c *Cache) enough(s *getStack) bool        { return true }
func (l *Logger) log(s *tellStack) core.Yield   { return s.Return() }

var (
	cacheGet  = core.Handle((*Cache).get)
	cacheTell = core.HandleNotice((*Cache).tell)
	loggerLog = core.HandleNotice((*Logger).log)

	cache  core.Address[Cache]
	logger core.Address[Logger]
)
