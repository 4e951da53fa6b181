// Command redis measures the example server, examples/kv, against redis-server, by
// redis-benchmark. It needs Linux, taskset and Debian's redis.
//
//	go run ./redis                     five rounds, limits checked
//	go run ./redis -reps 3 -report     three, and exit code 0 whatever they say
//	go run ./redis -json               an object a line
//	go run ./redis -keys 10000000      memory a key, and kv's time of one collection
//
// In each round all servers run, one after the other, each as a fresh process: kv with one
// worker, redis-server, and kv with two workers; the order turns from round to round.
// Each does SETs, then GETs, with -P 1 and with -P 16, of 64 bytes and 100,000 keys on 50
// connections. The server is bound to one CPU, redis-benchmark to another.
// kv with two workers has two CPUs, and if there are but two, shares one with redis-benchmark.
//
// What is compared is CPU time of the server's process for a request, throughput and p99, each as
// kv's figure divided by redis-server's in the same round; shown are the medians of the
// rounds and half their range. The limits, in limits.go, are of these ratios. At -P 1
// redis-benchmark is the bottleneck, so that throughput says little there.
//
// CPU time is the sum of /proc/PID/task/*/schedstat, read before and after a test: all
// threads, user and system, in nanoseconds. It includes what kv spends spinning.
//
// With two workers, CPU time is compared with that of one worker at -P 16, and at -P 1
// shown together with wake-ups, because there they are what it consists of: woken is kv's
// own count (INFO) of workers that another one woke, switches the kernel's of threads that
// went to sleep.
//
// With -keys both servers are filled with so many keys of 16 bytes and values of 64. What is
// shown is by how much their resident memory grew for a key, and a collection of kv when it is
// full, as its runtime tells it (gctrace): one asked for by DEBUG GC, or, if kv doesn't know
// that, the one that comes within two minutes by itself. redis-server has none.
package main
