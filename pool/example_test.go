package pool_test

import (
	"fmt"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// note is pooled: its Object comes first, so a *pool.Object of noteKind is a *note.
type note struct {
	pool.Object
	text string
}

var noteKind = pool.NewKind("note",
	pool.Layout{Size: unsafe.Sizeof(note{}), Fixed: pool.ObjectSize},
	func() *pool.Object { return &new(note).Object },
	func(o *pool.Object) { (*note)(unsafe.Pointer(o)).text = "" },
)

func Example() {
	var writer, reader pool.Shard // of two workers

	for _, text := range []string{"first", "second"} {
		n := (*note)(unsafe.Pointer(writer.Take(noteKind)))
		n.text = text

		// The note is handed over; the reader puts it when done.
		fmt.Println("reading", n.text)
		reader.Put(&n.Object)
		reader.Flush() // the end of the reader's turn
	}
	fmt.Println(writer.Usage(), reader.Usage())
	// Output:
	// reading first
	// reading second
	// [{note 1 1}] []
}

func ExampleBytes() {
	var s pool.Shard
	request := s.Copy([]byte("GET key"))

	// Somebody keeps a part for longer than the request lives.
	key := request.Slice(4, 7).Retain()
	request.Release()
	fmt.Printf("%s, %d outstanding\n", key.B(), s.Outstanding())

	key.Release()
	fmt.Println(s.Outstanding(), "outstanding")
	// Output:
	// key, 1 outstanding
	// 0 outstanding
}

func ExampleCarrier() {
	var s pool.Shard
	var c pool.Carrier // a field of what is handed around
	copy(c.Carry(&s, 5).B(), "hello")
	c.Carry(&s, 1000)
	fmt.Println(s.Outstanding(), "outstanding")

	c.Release()
	fmt.Println(s.Outstanding(), "outstanding, nothing held:", c.Empty())
	// Output:
	// 2 outstanding
	// 0 outstanding, nothing held: true
}

func ExampleShard_Trim() {
	var s pool.Shard
	var burst [100]*pool.Object
	for i := range burst {
		burst[i] = s.Take(noteKind)
	}
	for _, o := range burst {
		s.Put(o)
	}

	// A worker does this every 30 seconds.
	for range 3 {
		s.Put(s.Take(noteKind)) // one is in use now and then
		fmt.Println("dropped", s.Trim())
	}
	// Output:
	// dropped 0
	// dropped 89
	// dropped 0
}
