//go:build !unix

package table

// systemMap has nothing on systems where nobody wrote it.
func systemMap(int) []byte { return nil }

func systemUnmap([]byte) {}
