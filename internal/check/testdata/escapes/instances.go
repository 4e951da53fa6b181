package escapes

func instances() {
	unmarked()
	var n node
	GoodGeneric(&n, node{n: 1}, 1)
	BadGeneric(n)
	var b box[int]
	b.BadMethod(1)
}
