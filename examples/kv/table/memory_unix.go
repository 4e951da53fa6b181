//go:build unix

package table

import "syscall"

// systemMap returns n zero bytes of the system; nil: it has none.
func systemMap(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

// systemUnmap gives back what systemMap returned: first the pages, a few at a time, as others
// who map or unmap wait for the rest of it.
func systemUnmap(b []byte) {
	for from := 0; from < len(b); from += unmapMost {
		systemEmpty(b[from:min(from+unmapMost, len(b))])
	}
	// the kernel may refuse to cut a mapping in two: then the addresses stay in use
	_ = syscall.Munmap(b)
}
