package housetest_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func ExampleDouble() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	bank := housetest.NewDouble(sim, func(cents int) (string, error) {
		if cents > 1000 {
			return "", errors.New("too much")
		}
		return "paid", nil
	})

	bank.Hold()
	call := core.Begin(bank.Port, 250) // mostly the actor under test asks
	sim.Rest()
	fmt.Println(call.Ready(), bank.Take())
	bank.Release()
	sim.Rest()
	fmt.Println(call.Get())
	fmt.Println(housetest.Ask(t, sim, bank.Port, 2500))
	fmt.Println(bank.Take())
	// Output:
	// false []
	// paid <nil>
	//  too much
	// [250 2500]
}

func ExampleRecorder() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	stopped := housetest.NewRecorder[core.ActorStopped](sim)
	core.Events[core.ActorStopped](sim).Subscribe(stopped.Port)

	door := core.Spawn(sim, func() *Door { return &Door{} })
	door.Stop()
	sim.Rest()
	fmt.Println(stopped.Take()[0].Actor == door.Any(), len(stopped.Take()))
	// Output: true 0
}

// TestToysOfThreads: a test may look while the actors run, and gets each message once.
func TestToysOfThreads(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := housetest.NewRecorder[int](sys.Workers()[0])
	asked := housetest.NewDouble(sys.Workers()[1], func(n int) (int, error) { return -n, nil })
	const each = 100
	var guests sync.WaitGroup
	for g := range 2 {
		guests.Go(func() {
			for n := range each {
				if err := core.NoticeWait(t.Context(), told.Port, g*each+n); err != nil {
					t.Error(err)
				}
				if got, err := core.Ask(t.Context(), asked.Port, g*each+n); got != -(g*each+n) || err != nil {
					t.Errorf("answer %d, %v to %d", got, err, g*each+n)
				}
			}
		})
	}
	var heard, answered []int
	for !t.Failed() && (len(heard) < 2*each || len(answered) < 2*each) {
		heard, answered = append(heard, told.Take()...), append(answered, asked.Take()...)
	}
	guests.Wait()
	if err := sys.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	slices.Sort(heard)
	slices.Sort(answered)
	for n := range min(len(heard), len(answered)) {
		if heard[n] != n || answered[n] != n {
			t.Fatalf("told %d, and asked %d, where %d is due", heard[n], answered[n], n)
		}
	}
}
