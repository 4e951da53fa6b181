package table

import "syscall"

// systemEmpty takes the pages from b, which begins and ends where pages do.
func systemEmpty(b []byte) { _ = syscall.Madvise(b, syscall.MADV_DONTNEED) }
