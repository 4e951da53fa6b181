package storetest

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

func TestMemory(t *testing.T) {
	Rules(t, func(*testing.T) (store.Store, func() (store.Store, error)) {
		m := &Memory{}
		return m, func() (store.Store, error) { return m, nil }
	})
}
