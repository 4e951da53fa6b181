package check

import "testing"

func TestSeamsFindsWhatIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"clock", "import \"time\"\n\nvar _ = time.Now()", "a/a.go:5: time.Now outside its seam; take the time as an argument"},
		{"renamed", `import clock "time"; var now = clock.Now`, "time.Now outside"},
		{"since", `import "time"; func f(t time.Time) { time.Since(t) }`, "time.Since outside"},
		{"sleep", `import "time"; func f() { time.Sleep(1) }`, "time.Sleep outside"},
		{"after", `import "time"; func f() { <-time.After(1) }`, "time.After outside"},
		{"tick", `import "time"; func f() { <-time.Tick(1) }`, "time.Tick outside"},
		{"ticker", `import "time"; func f() { time.NewTicker(1) }`, "time.NewTicker outside"},
		{"dot", `import . "time"; var _ = Now()`, "dot import of time outside"},
		{"chance", `import "math/rand/v2"; var _ = rand.Int()`, "math/rand/v2 outside"},
		{"old chance", `import r "math/rand"; var _ = r.Int()`, "math/rand outside"},
		{"goroutine", `func f() { if true { go f() } }`, "go outside its seam"},
		{"pool", `import "sync"; var p sync.Pool`, "sync.Pool outside"},
		{"finalizer", `import "runtime"; func f(p *int) { runtime.SetFinalizer(p, nil) }`, "runtime.SetFinalizer outside"},
		{"cleanup", `import "runtime"; func f(p *int) { runtime.AddCleanup(p, nil, 0) }`, "runtime.AddCleanup outside"},
		{"system call", `import "syscall"; var _ = syscall.Getpid()`, "syscall outside"},
		{"unix", `import "golang.org/x/sys/unix"; var _ = unix.Getpid()`, "golang.org/x/sys outside"},
		{"unsafe", `import "unsafe"; var _ = unsafe.Sizeof(0)`, "unsafe outside"},
		{"linkname", "import \"time\"\n\nvar _ time.Time\n\n//go:linkname f runtime.nanotime\nfunc f() int64", "a/a.go:7: linkname outside"},
		{"loose linkname", "//go:linkname f runtime.nanotime\n\nfunc f() int64", "a/a.go:3: linkname outside"},
		{"select", `func f(a, b chan int) { select { case <-a: case b <- 1: default: } }`, "select outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "package a\n\n" + c.text
			expect(t, seams(sketch(t, map[string]string{"a/a.go": text}), nil), c.want)
			expect(t, seams(sketch(t, map[string]string{
				"fine/fine.go":     "package fine",
				"a/a_test.go":      text,
				"bench/a.go":       text,
				"examples/kv/a.go": text,
			}), nil))
		})
	}
}

func TestSeamsLetsPassWhatIsHarmless(t *testing.T) {
	expect(t, seams(sketch(t, map[string]string{"a/a.go": `package a

import (
	"sync"
	"time"
)

var mu sync.Mutex

func f(t time.Time, c chan int) time.Duration {
	select {
	case <-c:
	default:
	}
	var rand struct{ Now func() }
	rand.Now() // time.Now() in a comment
	return t.Sub(time.Time{}) + time.Second
}
`}), nil))
}

func TestPermits(t *testing.T) {
	tr := sketch(t, map[string]string{
		"a/clock.go":      `package a; import "time"; var now = time.Now`,
		"a/x_linux.go":    `package a; import "unsafe"; var _ = unsafe.Sizeof(0)`,
		"a/more.go":       `package a`,
		"a/clock_test.go": `package a; func TestSize() {}`,
	})
	clock := permit{files: "a/clock.go", what: "time.Now", why: "it is the clock"}
	cast := permit{files: "a/*_linux.go", what: "unsafe", why: "measures", test: "TestSize"}
	shed := permit{files: "b/b.go", what: "go", why: "later", planned: true}
	expect(t, seams(tr, []permit{clock, cast, shed}))

	gone, early, loose, fake, mute := clock, clock, cast, cast, clock
	gone.files = "a/more.go"
	early.planned = true
	loose.test = ""
	fake.test = "TestGone"
	mute.why = ""
	expect(t, seams(tr, []permit{clock, cast, gone}), "permit for time.Now in a/more.go: nothing uses it")
	expect(t, seams(tr, []permit{early, cast}), "it is used: strike planned")
	expect(t, seams(tr, []permit{clock, loose}), "name the test")
	expect(t, seams(tr, []permit{clock, fake}), "there is no TestGone in a")
	expect(t, seams(tr, []permit{mute, cast}), "says no why")
	expect(t, seams(sketch(t, nil), nil), "no file to look at")
}
