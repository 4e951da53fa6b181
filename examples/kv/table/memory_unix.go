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

// systemUnmap gives back what systemMap returned.
func systemUnmap(b []byte) {
	if err := syscall.Munmap(b); err != nil {
		panic("table: can't give memory back: " + err.Error())
	}
}
