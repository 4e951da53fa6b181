package session

import "errors"

// Errors of HELLOs that a link refuses. They are returned as they are.
var (
	// ErrName is the error for a HELLO of a node that the link isn't for.
	ErrName = errors.New("session: HELLO is from another node")
	// ErrTrack is the error for a HELLO for another track than the one that was dialled, or for one
	// that there isn't.
	ErrTrack = errors.New("session: HELLO is for another track")
	// ErrTracks is the error for a HELLO that says another number of tracks than one before it in the
	// session.
	ErrTracks = errors.New("session: the other end had another number of tracks")
	// ErrIncarnation is the error for a HELLO of an incarnation that is dead, or before one that is
	// known.
	ErrIncarnation = errors.New("session: HELLO is from a node's earlier life")
	// ErrSession is the error for a HELLO of a session that was given up, or has a number that none
	// has.
	ErrSession = errors.New("session: HELLO is for a session that was given up")
	// ErrTaken is the error for a connection of a track that has one, or will have the one that it
	// has dialled. The other end dials again if it needs to.
	ErrTaken = errors.New("session: the track has another connection")
)
