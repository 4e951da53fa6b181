package table_test

import (
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

func Example() {
	t := table.New(table.Config{Seed: 42}) // a server draws its seed at random
	if err := t.Set([]byte("greeting"), []byte("hello"), 0); err != nil {
		fmt.Println(err)
		return
	}
	if n, err := t.Append([]byte("greeting"), []byte(" world"), 0); err == nil {
		fmt.Println(n)
	}
	value, ok := t.Get([]byte("greeting"), 0)
	fmt.Printf("%s %v\n", value, ok)
	// Output:
	// 11
	// hello world true
}

// A lock is a key that is set only if it is absent, and that goes by itself.
func ExampleTable_SetFlags() {
	t := table.New(table.Config{})
	now := int64(time.Hour)
	until := now + int64(10*time.Second)
	lock := func(owner string, now int64) bool {
		stored, err := t.SetFlags([]byte("lock"), []byte(owner), until, table.IfAbsent, now)
		return stored && err == nil
	}
	fmt.Println(lock("me", now), lock("you", now), lock("you", until))
	// Output: true false true
}

// An owner's timer looks at some deadlines, and goes on while it pays.
func ExampleTable_ExpireSome() {
	t := table.New(table.Config{})
	for i := range 100 {
		if err := t.Set(fmt.Appendf(nil, "session:%d", i), nil, int64(10+i/90)); err != nil {
			fmt.Println(err)
		}
	}
	const now = 10
	for {
		looked, expired := t.ExpireSome(20, now)
		if expired*4 < looked || looked == 0 {
			break
		}
	}
	fmt.Println(t.Len(), t.Stats().Expired)
	// Output: 10 90
}

func ExampleTable_Scan() {
	t := table.New(table.Config{})
	for i := range 100 {
		if err := t.Set(fmt.Appendf(nil, "key:%d", i), []byte("1"), 0); err != nil {
			fmt.Println(err)
		}
	}
	seen := 0
	count := func(key, value []byte, kind table.Kind) { seen++ }
	cursor := t.Scan(0, 10, 0, count)
	for cursor != 0 {
		cursor = t.Scan(cursor, 10, 0, count) // other calls may come between
	}
	fmt.Println(seen)
	// Output: 100
}

// A hash keeps its fields in the order in which they came, as long as it is small.
func ExampleTable_SetField() {
	t := table.New(table.Config{})
	for _, field := range [][2]string{{"name", "Ada"}, {"born", "1815"}, {"name", "Ada Lovelace"}} {
		if _, err := t.SetField([]byte("person"), []byte(field[0]), []byte(field[1]), 0); err != nil {
			fmt.Println(err)
		}
	}
	fields, err := t.Fields([]byte("person"), 0)
	for name, value, ok := fields.Next(); ok; name, value, ok = fields.Next() {
		fmt.Printf("%s: %s\n", name, value)
	}
	_, ok := t.Get([]byte("person"), 0)
	fmt.Println(err, ok)
	// Output:
	// name: Ada Lovelace
	// born: 1815
	// <nil> false
}
