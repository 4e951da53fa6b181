//go:build !linux

package house

import (
	"errors"
	"runtime"
)

var errBinding = errors.New("Config.CPUs: threads can't be bound to CPUs on " + runtime.GOOS)

func bindThread(int) error { return errBinding }

func checkCPUs(cpus []int) error {
	if len(cpus) > 0 {
		return errBinding
	}
	return nil
}

func nameThread(string) {}
