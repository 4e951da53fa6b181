package nocompile

import "github.com/stackhouse-go/stackhouse/core"

func (c *Cache) stepOfAnotherStack(s *getStack) core.Yield {
	return core.Suspend(s, (*Cache).other) // ERROR `in call to core\.Suspend, .* \(\*Cache\)\.other does not match`
}

func (c *Cache) methodValue(s *getStack) core.Yield {
	return core.Suspend(s, c.done) // ERROR `in call to core\.Suspend, .* c\.done does not match`
}

func (c *Cache) predicateForStep(s *getStack) core.Yield {
	return core.SuspendAny(s, (*Cache).enough) // ERROR `in call to core\.SuspendAny, .* \(\*Cache\)\.enough does not match`
}

func (c *Cache) stepForPredicate(s *getStack) core.Yield {
	return core.SuspendUntil(s, (*Cache).done, (*Cache).done) // ERROR `in call to core\.SuspendUntil, .* \(\*Cache\)\.done does not match`
}

func (c *Cache) suspendsTheActor(s *getStack) core.Yield {
	return core.Suspend(c, (*Cache).done) // ERROR `in call to core\.Suspend, .* \(\*Cache\)\.done does not match`
}

func (c *Cache) suspendsNothing(s *getStack) core.Yield {
	return core.Suspend(s) // ERROR `not enough arguments in call to core\.Suspend`
}
