// Package proto has messages of protocol buffers cross between nodes: import it, and pointers to
// generated types may be requests, replies and notices, or fields of such:
//
//	import _ "github.com/stackhouse-go/stackhouse/cluster/proto"
//
//	var Get = core.NewMethod[*pb.GetReq, *pb.Item]("shop.item.get")
//
// Peers know a message by its full name, as "shop.v1.GetReq", and its versions mix as those of
// protocol buffers do. A nil pointer arrives as an empty message. A message that can't be encoded,
// as its text is no UTF-8, ends its call with core.ErrPanic.
//
// A type for which vtprotobuf (github.com/planetscale/vtprotobuf, features marshal, unmarshal and
// size) has generated code is written and read by that, which takes less time; it doesn't look
// whether strings are UTF-8. Types with maps, with extensions, or whose messages may have others
// of the type within, are left to package proto: for strangers' bytes that code isn't safe there,
// and extensions it leaves out.
//
// Bytes of strangers make messages of up to some 55 times their length: elements of two bytes that
// have nothing in them. The budget of a node doesn't hold here; TLS says who may send.
//
// Between actors of one process a pointer is passed as it is, so who gets a message doesn't write
// to it; nor does who has sent it, as over a link it is written when its turn comes. There a
// message is fresh for each call, and its reader's to keep. Of a type for which
// [Reuse] was called it lives as long as the stack of the call, as []byte do, and is used again
// then: scalars cost no malloc so. Nor do bytes in messages of up to 1 KiB whose fields are all
// scalars, strings and bytes that can't be absent: such are read straight into their structs.
package proto
