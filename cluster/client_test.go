package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// TestClientsThatCannotBe: whoever dials as none can hears of it, and nothing of it is left.
func TestClientsThatCannotBe(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for what, c := range map[string]Config{
		"it listens":                {Name: "guest", Plaintext: true, Listen: "127.0.0.1:0"},
		"a mailbox of less than no": {Name: "guest", Plaintext: true, Mailbox: -1},
	} {
		client, err := Dial(t.Context(), c)
		require.Error(t, err, what)
		require.Nil(t, client, what)
	}
}

// TestIdentitiesThatCannotBe: without files, or without an authority, there is none.
func TestIdentitiesThatCannotBe(t *testing.T) {
	for _, f := range []secure.Files{{}, {CA: t.TempDir() + "/ca"}} {
		id, err := Identity(f)
		require.Error(t, err)
		require.Nil(t, id)
	}
}
