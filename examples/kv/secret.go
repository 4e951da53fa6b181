package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

const (
	errNoAuth    = "NOAUTH Authentication required."
	errWrongPass = "WRONGPASS invalid username-password pair or user is disabled."
)

// secret is the password that connections need, kept as its hash: so a comparison takes the same
// time whatever the guess is, and however long.
type secret struct {
	sum atomic.Pointer[[sha256.Size]byte]
}

// set makes password the one that connections need; "": they need none.
func (v *secret) set(password string) {
	if password == "" {
		v.sum.Store(nil)
		return
	}
	sum := sha256.Sum256([]byte(password))
	v.sum.Store(&sum)
}

// needed reports whether there is a password.
func (v *secret) needed() bool { return v.sum.Load() != nil }

// admits reports whether the name and password of a user are right. The only user is "default"; if
// no password is needed any is right.
func (v *secret) admits(user, password []byte) bool {
	want := v.sum.Load()
	if want == nil {
		return string(user) == userName
	}
	got := sha256.Sum256(password)
	same := subtle.ConstantTimeCompare(got[:], want[:])
	return same&subtle.ConstantTimeCompare(user, []byte(userName)) == 1
}

const userName = "default"

// auth is the reply to AUTH with these arguments.
func (v *secret) auth(args resp.Args) resp.Reply {
	first, _ := args.Next()
	if second, ok := args.Next(); ok {
		return right(v.admits(first, second))
	}
	if !v.needed() {
		return resp.Err("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	}
	return right(v.admits([]byte(userName), first))
}

// isShown reports whether a command, AUTH or HELLO, gives the right password.
func (v *secret) isShown(cmd *resp.Command) bool {
	switch {
	case cmd.Is("auth"):
		return cmd.Len() <= 3 && v.auth(cmd.Args(1)).Kind != resp.KindError
	case cmd.Is("hello"):
		words := cmd.Args(2)
		for words.Len() >= 3 {
			if word, _ := words.Next(); resp.EqualFold(word, "auth") {
				user, _ := words.Next()
				password, _ := words.Next()
				return v.admits(user, password)
			}
		}
	}
	return false
}

func right(ok bool) resp.Reply {
	if ok {
		return resp.OK()
	}
	return resp.Err(errWrongPass)
}
