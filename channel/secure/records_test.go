package secure_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/pool"
)

// expand is HKDF-Expand-Label of TLS 1.3, without a context.
func expand(t *testing.T, secret []byte, label string, n int) []byte {
	info := binary.BigEndian.AppendUint16(nil, uint16(n))
	info = append(append(info, byte(len("tls13 "+label))), "tls13 "+label...)
	key, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), n)
	require.NoError(t, err)
	return key
}

// keyUpdate is the record in which a client of TLS_AES_128_GCM_SHA256, which has sent nothing else
// since its handshake, changes its keys and asks the other end to do so. crypto/tls never says it.
func keyUpdate(t *testing.T, secret []byte) []byte {
	block, err := aes.NewCipher(expand(t, secret, "key", 16))
	require.NoError(t, err)
	seal, err := cipher.NewGCM(block)
	require.NoError(t, err)
	// key_update, update_requested; in a record of the handshake's kind
	text := []byte{24, 0, 0, 1, 1, 22}
	head := []byte{23, 3, 3, 0, byte(len(text) + seal.Overhead())}
	return seal.Seal(head, expand(t, secret, "iv", 12), text, head)
}

// TestKeyUpdate: it is answered by one record; behind close_notify by none.
func TestKeyUpdate(t *testing.T) {
	for _, ended := range []bool{false, true} {
		ca := newCA(t)
		var log bytes.Buffer
		by := secure.New(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool(), KeyLogWriter: &log})
		c, s := newEnd("127.0.0.1:1", by.Client("a.test")), newEnd("127.0.0.1:2", by.Server())
		meet(t, c, s, 0)
		_, line, _ := strings.Cut(log.String(), "CLIENT_TRAFFIC_SECRET_0 ")
		secret, err := hex.DecodeString(strings.Fields(line)[1])
		require.NoError(t, err)
		if ended {
			require.NoError(t, s.SendEnd(1))
			require.NotEmpty(t, s.sent())
		}
		require.NoError(t, s.Receive(1, keyUpdate(t, secret)))
		if ended {
			require.Empty(t, s.sent())
		} else {
			require.Len(t, s.sent(), 27)
		}
		c.Close(1)
		s.Close(1)
	}
}

// thrifty is an end that notes what is asked of its pool.
type thrifty struct {
	*end
	most int
}

func (e *thrifty) Bytes(n int) pool.Bytes {
	e.most = max(e.most, n)
	return e.end.Bytes(n)
}

// TestPartsOfRecords: what came of a record takes room by its own length, not by what was
// announced.
func TestPartsOfRecords(t *testing.T) {
	c, s, by := pair(t, tls.VersionTLS13)
	s.Close(1)
	e := &thrifty{end: &end{addr: "127.0.0.1:2", now: 1, wakes: make(chan struct{}, 1)}}
	e.Pipeline = stage.New(e, by.Server())
	e.Open(1)
	meet(t, c, e.end, 0)
	for range 200 { // crypto/tls writes short records at first
		require.NoError(t, c.Send(1, make([]byte, 16<<10)))
	}
	e.receives(c.sent(), 0)
	e.up, e.most = nil, 0
	before := shard.Outstanding()
	text := bytes.Repeat([]byte("x"), 16<<10)
	require.NoError(t, c.Send(1, text))
	record := c.sent()
	for i, p := range record {
		require.Equal(t, i > 0, e.KeepsPart())
		require.NoError(t, e.Receive(1, []byte{p}))
		if i < len(record)-1 {
			require.LessOrEqual(t, e.most, max(512, 2*(i+1)))
		}
	}
	require.Equal(t, text, e.up)
	require.False(t, e.KeepsPart())
	require.Equal(t, before, shard.Outstanding())
	c.Close(1)
	e.Close(1)
}

// crash is a stage above TLS that panics.
type crash struct{}

func (crash) Receive(*stage.Flow, []byte) error { panic("a stage's") }
func (crash) ReceiveEnd(*stage.Flow) error      { return nil }

// TestNothingIsLeftBehindAPanic: no slab, though what reads a record's text panics.
func TestNothingIsLeftBehindAPanic(t *testing.T) {
	c, s, by := pair(t, tls.VersionTLS13)
	s.Close(1)
	s = newEnd("127.0.0.1:2", by.Server(), crash{})
	meet(t, c, s, 0)
	before := shard.Outstanding()
	require.NoError(t, c.Send(1, []byte("x")))
	require.Panics(t, func() { s.Receive(1, c.sent()) })
	c.Close(1)
	s.Close(1)
	require.Equal(t, before, shard.Outstanding())
}
