package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

const (
	hollywood       = "hollywood"
	hollywoodModule = "github.com/anthdm/hollywood"
	hollywoodCommit = "c7a2c2b8162e" // of March 2025
	fetched         = "fetch"        // in place of a folder with its source
)

// hollywoodWorkloads are those of the program in the folder hollywood.
var hollywoodWorkloads = []string{"tell-1-1", "tell-8-1", "tell-actor", "tell-cross", "fanout-1000", "pingpong-1", "pingpong-64",
	"ask-guest", "ask-64-1", "spawn", "skynet", "ring503"}

// known returns the libraries that can be chosen: Hollywood, which is no dependency of
// this module, if it is asked for.
func (o *options) known() []library {
	if o.hollywood == "" {
		return libraries
	}
	after := slices.IndexFunc(libraries, func(l library) bool { return l.name == "protoactor" })
	return slices.Insert(slices.Clone(libraries), after+1, library{
		name:     hollywood,
		actors:   true,
		variants: usual,
		has:      among(hollywoodWorkloads),
		prepare:  func(l *library) (func(), error) { return prepareHollywood(l, o.hollywood) },
		run: func(string, int) (measure.Result, error) {
			return measure.Result{}, errors.New("hollywood is run by a program of its own")
		},
	})
}

// prepareHollywood compiles the program that runs it.
func prepareHollywood(l *library, source string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "stackhouse-compare-")
	if err != nil {
		return nil, err
	}
	if l.program, err = buildHollywood(dir, source); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return func() { os.RemoveAll(dir) }, nil
}

// buildHollywood compiles the folder hollywood of this module, with a go.mod in dir that
// requires Hollywood as well.
func buildHollywood(dir, source string) (program string, err error) {
	edits, err := requireHollywood(source)
	if err != nil {
		return "", err
	}
	const module = "github.com/stackhouse-go/stackhouse/bench/compare"
	here, err := goCommand("", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", fmt.Errorf("where is %s? Run this in its folder: %w", module, err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(here, name)); err != nil {
			return "", err
		}
	}
	mod := filepath.Join(dir, "go.mod")
	if _, err := goCommand(here, slices.Concat([]string{"mod", "edit"}, edits, []string{mod})...); err != nil {
		return "", err
	}
	// by their names, which overrides their tag
	files, err := filepath.Glob(filepath.Join(here, hollywood, "*.go"))
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "program")
	build := []string{"build", "-mod=mod", "-modfile=" + mod, "-buildvcs=false", "-o", program}
	_, err = goCommand(here, append(build, files...)...)
	return program, err
}

// requireHollywood returns how go.mod must be edited.
func requireHollywood(source string) (edits []string, err error) {
	if source == fetched {
		return []string{"-require=" + hollywoodModule + "@" + hollywoodCommit}, nil
	}
	if source, err = filepath.Abs(source); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
		return nil, fmt.Errorf("-hollywood wants a folder with the source of %s: %w", hollywoodModule, err)
	}
	return []string{"-require=" + hollywoodModule + "@v0.0.0", "-replace=" + hollywoodModule + "=" + source}, nil
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// goCommand runs the go command in a folder, outside of any workspace.
func goCommand(dir string, args ...string) (said string, err error) {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, failure.String())
	}
	return strings.TrimSpace(string(out)), nil
}
