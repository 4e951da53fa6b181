package main

import (
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/valyala/bytebufferpool"
)

// section is one part of the reply to INFO.
type section struct {
	name string
	tell func(v *service, b *lines)
}

// sections are in the order of the reply, whatever the order of the request.
var sections = []section{
	{"Server", (*service).tellServer},
	{"Clients", (*service).tellClients},
	{"Memory", (*service).tellMemory},
	{"Stats", (*service).tellStats},
	{"Runtime", (*service).tellRuntime},
}

// lines are the text of INFO.
type lines struct{ *bytebufferpool.ByteBuffer }

func (b *lines) add(name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }

// info answers what the server and its runtime have counted.
func (f *front) info(s *command) core.Yield {
	b := lines{bytebufferpool.Get()}
	defer bytebufferpool.Put(b.ByteBuffer)
	for i := range sections {
		c := &sections[i]
		if !c.wanted(s.Req.Args(1)) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(b, "# %s\r\n", c.name)
		c.tell(f.service, &b)
	}
	return s.answer(resp.Verbatim("txt", s.Copy(b.B)))
}

// wanted reports whether c is among the names, or all sections are.
func (c *section) wanted(names resp.Args) bool {
	if names.Len() == 0 {
		return true
	}
	for name, ok := names.Next(); ok; name, ok = names.Next() {
		for _, right := range [...]string{c.name, "all", "everything", "default"} {
			if resp.EqualFold(name, right) {
				return true
			}
		}
	}
	return false
}

// listener returns the server's counts, with the connections of TLS, and its address; zeros until
// it listens.
func (v *service) listener() (conns channel.Stats, address string) {
	if v.opened.Load() {
		conns, address = v.server.Stats(), v.server.Addr()
		if v.secured != nil {
			more := v.secured.Stats()
			conns.Conns += more.Conns
			conns.Accepted += more.Accepted
			conns.IdleTimeouts += more.IdleTimeouts
			conns.WriteTimeouts += more.WriteTimeouts
			conns.Refused += more.Refused
		}
	}
	return conns, address
}

func (v *service) tellServer(b *lines) {
	_, address := v.listener()
	b.add("redis_version", redisVersion)
	b.add("server_name", "stackhouse-kv")
	b.add("process_id", os.Getpid())
	b.add("tcp_address", address)
}

func (v *service) tellClients(b *lines) {
	conns, _ := v.listener()
	b.add("connected_clients", conns.Conns)
}

func (v *service) tellMemory(b *lines) {
	used, held := v.cluster.memory.used()
	b.add("used_memory", used)
	b.add("used_memory_stores", held)
	b.add("maxmemory", v.cluster.memory.limit.Load())
	b.add("maxmemory_policy", "noeviction")
}

func (v *service) tellStats(b *lines) {
	conns, _ := v.listener()
	b.add("total_connections_received", conns.Accepted)
	b.add("idle_timeouts", conns.IdleTimeouts)
	b.add("write_timeouts", conns.WriteTimeouts)
	b.add("protocol_errors", conns.Refused)
}

func (v *service) tellRuntime(b *lines) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	stats := v.system.Stats()
	b.add("mallocs", samples[0].Value.Uint64())
	b.add("collections", samples[1].Value.Uint64())
	b.add("heap_bytes", samples[2].Value.Uint64())
	b.add("workers", len(v.system.Workers()))
	b.add("actors", v.system.Actors())
	b.add("turns", stats.Turns)
	b.add("messages", stats.Messages)
	b.add("parks", stats.Parks)
	b.add("woken", stats.Woken)
	b.add("wakes", stats.Wakes)
	b.add("vain_wakes", stats.VainWakes)
	b.add("spins", stats.Spins)
	b.add("naps", stats.Naps)
	b.add("borrowed", stats.Borrowed)
	b.add("slow_steps", stats.SlowSteps)
	b.add("failures", stats.Failures)
	b.add("queue_wait_p50_us", micros(stats.QueueWait.P50))
	b.add("queue_wait_p99_us", micros(stats.QueueWait.P99))
	b.add("queue_wait_p999_us", micros(stats.QueueWait.P999))
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }
