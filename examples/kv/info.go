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

// info answers what the server and its runtime have counted.
func (f *front) info(s *command) core.Yield {
	b := bytebufferpool.Get()
	defer bytebufferpool.Put(b)
	f.service.describe(b)
	return s.answer(resp.Verbatim("txt", s.Copy(b.B)))
}

// describe writes the sections of INFO.
func (v *service) describe(b *bytebufferpool.ByteBuffer) {
	stats := v.system.Stats()
	var conns channel.Stats
	address := ""
	if v.opened.Load() {
		conns, address = v.server.Stats(), v.server.Addr()
	}
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	line := func(name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }
	b.WriteString("# Server\r\n")
	line("redis_version", redisVersion)
	line("server_name", "stackhouse-kv")
	line("process_id", os.Getpid())
	line("tcp_address", address)
	b.WriteString("\r\n# Clients\r\n")
	line("connected_clients", conns.Conns)
	used, held := v.cluster.memory.used()
	b.WriteString("\r\n# Memory\r\n")
	line("used_memory", used)
	line("used_memory_stores", held)
	line("maxmemory", v.cluster.memory.limit.Load())
	line("maxmemory_policy", "noeviction")
	b.WriteString("\r\n# Stats\r\n")
	line("total_connections_received", conns.Accepted)
	line("idle_timeouts", conns.IdleTimeouts)
	line("write_timeouts", conns.WriteTimeouts)
	line("protocol_errors", conns.Refused)
	b.WriteString("\r\n# Runtime\r\n")
	line("mallocs", samples[0].Value.Uint64())
	line("collections", samples[1].Value.Uint64())
	line("heap_bytes", samples[2].Value.Uint64())
	line("workers", len(v.system.Workers()))
	line("actors", v.system.Actors())
	line("turns", stats.Turns)
	line("messages", stats.Messages)
	line("parks", stats.Parks)
	line("woken", stats.Woken)
	line("lent", stats.Lent)
	line("failures", stats.Failures)
	line("queue_wait_p50_us", micros(stats.QueueWait.P50))
	line("queue_wait_p99_us", micros(stats.QueueWait.P99))
	line("queue_wait_p999_us", micros(stats.QueueWait.P999))
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }
