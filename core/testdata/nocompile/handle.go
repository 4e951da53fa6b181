package nocompile

import (
	"context"

	"github.com/stackhouse-go/stackhouse/core"
)

func plain(c *Cache, n int) core.Yield { return core.Yield{} }

func (c *Cache) noYield(s *getStack) {}

func (c *Cache) byValue(s getStack) core.Yield { return s.Return(Value{}) }

var (
	_ = core.Handle((*Cache).tell)               // ERROR `in call to core\.Handle, PS \(type \*tellStack\) does not satisfy core\.AskOf\[S, Req, Rep\]`
	_ = core.HandleNotice((*Cache).get)          // ERROR `in call to core\.HandleNotice, PS \(type \*getStack\) does not satisfy core\.NoticeOf\[S, Msg\]`
	_ = core.HandleBatch((*Cache).get, 0)        // ERROR `in call to core\.HandleBatch, PS \(type \*getStack\) does not satisfy core\.BatchAskOf\[S, Req, Rep\]`
	_ = core.HandleNoticeBatch((*Cache).tell, 0) // ERROR `in call to core\.HandleNoticeBatch, PS \(type \*tellStack\) does not satisfy core\.BatchNoticeOf\[S, Msg\]`
	_ = core.Handle((*Cache).enough)             // ERROR `in call to core\.Handle, .* \(\*Cache\)\.enough does not match`
	_ = core.Handle((*Cache).noYield)            // ERROR `in call to core\.Handle, .* \(\*Cache\)\.noYield does not match`
	_ = core.Handle((*Cache).byValue)            // ERROR `in call to core\.Handle, PS \(type getStack\) does not satisfy core\.AskOf\[S, Req, Rep\]`
	_ = core.Handle(plain)                       // ERROR `in call to core\.Handle, PS \(type int\) does not satisfy core\.AskOf\[S, Req, Rep\]`

	_                           = cacheGet.At(logger) // ERROR `cannot use logger .* as core\.Address\[Cache\] value`
	_                           = loggerLog.At(cache) // ERROR `cannot use cache .* as core\.Address\[Logger\] value`
	_ core.Port[Tell, Value]    = cacheGet.At(cache)  // ERROR `cannot use cacheGet\.At\(cache\) .* as core\.Port\[Tell, Value\] value`
	_ core.Port[Get, int]       = cacheGet.At(cache)  // ERROR `cannot use cacheGet\.At\(cache\) .* as core\.Port\[Get, int\] value`
	_ core.NoticePort[Get]      = cacheTell.At(cache) // ERROR `cannot use cacheTell\.At\(cache\) .* as core\.NoticePort\[Get\] value`
	_ core.Port[Tell, struct{}] = cacheTell.At(cache) // ERROR `cannot use cacheTell\.At\(cache\) .* as core\.Port\[Tell, struct\{\}\] value`
	_ core.Address[Cache]       = logger              // ERROR `cannot use logger .* as core\.Address\[Cache\] value`
	_ bool                      = cache == logger     // ERROR `invalid operation: cache == logger \(mismatched types core\.Address\[Cache\] and core\.Address\[Logger\]\)`
)

func guest(ctx context.Context) {
	core.Ask(ctx, cacheGet.At(cache), Tell{})  // ERROR `in call to core\.Ask, .* Tell\{\} does not match inferred type Get for Req`
	core.Ask(ctx, cacheTell.At(cache), Tell{}) // ERROR `in call to core\.Ask, .* cacheTell\.At\(cache\) does not match core\.Port\[Req, Rep\]`
	core.Notice(cacheTell.At(cache), Get{})    // ERROR `in call to core\.Notice, .* Get\{\} does not match inferred type Tell for Msg`
	core.Notice(cacheGet.At(cache), Get{})     // ERROR `in call to core\.Notice, .* cacheGet\.At\(cache\) does not match core\.NoticePort\[Msg\]`
	var n int
	n, _ = core.Ask(ctx, cacheGet.At(cache), Get{}) // ERROR `cannot use core\.Ask\(ctx, cacheGet\.At\(cache\), Get\{\}\) .* as int value`
	_ = n
	core.Spawn(nil, func() Cache { return Cache{} }) // ERROR `in call to core\.Spawn, .* func\(\) Cache \{…\} does not match`
	core.Spawn(nil, &Cache{})                        // ERROR `in call to core\.Spawn, .* &Cache\{\} does not match`
}

func (c *Cache) offloads(s *getStack) core.Yield {
	core.Offload(s, &s.count, "in", func(ctx context.Context, in int) (int, error) { return in, nil }) // ERROR `cannot use "in" .* as int value`
	core.Offload(s, &s.value, 1, func(ctx context.Context, in int) (int, error) { return in, nil })    // ERROR `in call to core\.Offload, .* does not match inferred type func\(ctx context\.Context, in int\) \(Value, error\)`
	core.Offload(s, &s.count, 1, func(in int) (int, error) { return in, nil })                         // ERROR `in call to core\.Offload, .* does not match inferred type func\(ctx context\.Context, in In\) \(int, error\)`
	return core.Suspend(s, (*Cache).done)
}
