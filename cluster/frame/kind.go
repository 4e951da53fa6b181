package frame

import "strconv"

// Kind says what a frame is for. Numbers of kinds are never used again for others.
type Kind uint8

// The kinds.
const (
	KindTell    Kind = 1
	KindTells   Kind = 2
	KindAsk     Kind = 3
	KindReply   Kind = 4
	KindFail    Kind = 5
	KindCancel  Kind = 6
	KindRef     Kind = 7
	KindWatch   Kind = 8
	KindUnwatch Kind = 9
	KindGone    Kind = 10
	KindCommand Kind = 11
	KindGap     Kind = 12
	KindHello   Kind = 13
	KindMethod  Kind = 14
	KindHold    Kind = 15
	KindResume  Kind = 16
	KindAck     Kind = 17
	KindPing    Kind = 18
	KindPart    Kind = 19
	KindBye     Kind = 20
	KindPacked  Kind = 21

	kinds = 22 // one more than the last
)

var names = [kinds]string{
	KindTell: "TELL", KindTells: "TELLS", KindAsk: "ASK", KindReply: "REPLY", KindFail: "FAIL",
	KindCancel: "CANCEL", KindRef: "REF", KindWatch: "WATCH", KindUnwatch: "UNWATCH", KindGone: "GONE",
	KindCommand: "COMMAND", KindGap: "GAP", KindHold: "HOLD",
	KindResume: "RESUME", KindAck: "ACK", KindPing: "PING", KindPart: "PART", KindBye: "BYE", KindPacked: "PACKED",
	KindHello: "HELLO", KindMethod: "METHOD",
}

// String returns the kind's name, for messages to people.
func (k Kind) String() string {
	if !k.Known() {
		return "kind " + strconv.Itoa(int(k))
	}
	return names[k]
}

// Known reports whether this version, that of the program, has the kind. A frame of another kind is
// to be skipped, if Next has returned it.
func (k Kind) Known() bool {
	return k > 0 && k < kinds && (Version > 1 || k != KindTells && k != KindPacked)
}

// check returns what is wrong with the head of a frame that isn't the first of its connection.
func (k Kind) check(f Flags) error {
	switch {
	case !k.Known():
		if f&Skip == 0 {
			return ErrKind
		}
		return nil
	case k == KindHello:
		return ErrKind
	case k == KindPing:
		f &^= Asks
	}
	if f != k.flags() {
		return ErrFlags
	}
	return nil
}

// flags returns those that each frame of a known kind has.
func (k Kind) flags() Flags {
	switch k {
	case KindHello, KindAck, KindPing, KindBye:
		return Outside
	}
	return 0
}
