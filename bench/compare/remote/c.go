package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed exchange/exchange.c
var exchange []byte

// compiled compiles the C program into a new folder.
func compiled() (program string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "exchange")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	program = filepath.Join(dir, "exchange")
	cc := exec.Command("cc", "-O2", "-pthread", "-x", "c", "-o", program, "-")
	cc.Stdin, cc.Stderr = bytes.NewReader(exchange), os.Stderr
	if err = cc.Run(); err != nil {
		remove()
	}
	return program, remove, err
}

func serveC(ready func(string)) error {
	program, remove, err := compiled()
	if err != nil {
		return err
	}
	defer remove()
	c := exec.Command(program, "serve")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr // it says its port itself
	return c.Run()
}

func askC(port string, n int) (r result, err error) {
	program, remove, err := compiled()
	if err != nil {
		return r, err
	}
	defer remove()
	text, err := exec.Command(program, "run", port, fmt.Sprint(n)).Output()
	if err != nil {
		return r, err
	}
	var took []int64
	all := int64(0)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		ns, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return r, err
		}
		took = append(took, ns)
		all += ns
	}
	return timed(took, all), nil
}
