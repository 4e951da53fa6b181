package nocompile

import "github.com/stackhouse-go/stackhouse/core"

func (c *Cache) forgets(s *getStack) core.Yield {
	c.disk.Ask(s, &s.value, Get{})
} // ERROR `missing return`

func (c *Cache) forgetsAfterAll(s *getStack) core.Yield {
	core.Suspend(s, (*Cache).done)
} // ERROR `missing return`

func (c *Cache) wrongReply(s *getStack) core.Yield {
	return s.Return(Get{}) // ERROR `cannot use Get\{\} .* as Value value`
}

func (c *Cache) noReply(s *getStack) core.Yield {
	return s.Return() // ERROR `not enough arguments in call to s\.Return`
}

func (c *Cache) replyToNotice(s *tellStack) core.Yield {
	return s.Return(Value{}) // ERROR `too many arguments in call to s\.Return`
}

func (c *Cache) replyInsteadOfYield(s *getStack) core.Yield {
	return Value{} // ERROR `cannot use Value\{\} .* as core\.Yield value`
}

func (c *Cache) throwsText(s *getStack) core.Yield {
	return s.Throw("no") // ERROR `cannot use "no" .* as error value`
}

func (c *Cache) singleReplyOfBatch(s *batchStack) core.Yield {
	return s.Return(Value{}) // ERROR `s\.Return undefined`
}

func (c *Cache) wrongReplyOfBatch(s *batchStack) core.Yield {
	return s.ReturnAll(Get{}) // ERROR `cannot use Get\{\} .* as Value value`
}

func (c *Cache) madeUp(s *getStack) core.Yield {
	return core.Yield{1} // ERROR `implicit assignment to unexported field how in struct literal of type core\.Yield`
}
