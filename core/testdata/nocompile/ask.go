package nocompile

import "github.com/stackhouse-go/stackhouse/core"

func (c *Cache) wrongRequest(s *getStack) core.Yield {
	c.disk.Ask(s, &s.value, Tell{}) // ERROR `cannot use Tell\{\} .* as Get value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) wrongFuture(s *getStack) core.Yield {
	c.disk.Ask(s, &s.count, Get{}) // ERROR `cannot use &s\.count .* as \*core\.Future\[Value\] value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) futureByValue(s *getStack) core.Yield {
	c.disk.Ask(s, s.value, Get{}) // ERROR `cannot use s\.value .* as \*core\.Future\[Value\] value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) noStack(s *getStack) core.Yield {
	c.disk.Ask(c, &s.value, Get{}) // ERROR `cannot use c .* as core\.Running value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) stackByValue(s *getStack) core.Yield {
	c.disk.Ask(*s, &s.value, Get{}) // ERROR `cannot use \*s .* as core\.Running value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) timerWithoutUnit(s *getStack, seconds int) core.Yield {
	core.Timer.Ask(s, &s.tick, seconds) // ERROR `cannot use seconds .* as time\.Duration value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) timerWithoutTick(s *getStack) core.Yield {
	core.Timer.Ask(s, &s.value, 1) // ERROR `cannot use &s\.value .* as \*core\.Future\[core\.Tick\] value`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) noticeOfAsk(s *getStack) core.Yield {
	c.disk.Notice(s, Get{}) // ERROR `c\.disk\.Notice undefined`
	return s.Return(Value{})
}

func (c *Cache) askOfNotice(s *getStack) core.Yield {
	cacheTell.At(cache).Ask(s, &s.value, Tell{}) // ERROR `cacheTell\.At\(cache\)\.Ask undefined`
	return core.Suspend(s, (*Cache).done)
}

func (c *Cache) wrongNotice(s *getStack) core.Yield {
	cacheTell.At(cache).Notice(s, Get{}) // ERROR `cannot use Get\{\} .* as Tell value`
	return s.Return(Value{})
}

type lineStack struct{ core.ChannelStack[Get, Value] }

func (c *Cache) requestOfConnectionForwarded(s *lineStack) core.Yield {
	return c.disk.Forward(s, Get{}) // ERROR `cannot use s .* as core\.Answering\[Value\] value .* \(missing method answers\)`
}
