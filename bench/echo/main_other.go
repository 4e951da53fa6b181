//go:build !linux

package main

import "os"

func main() {
	os.Stderr.WriteString("echo: it needs Linux\n")
	os.Exit(1)
}
