// Package check holds the rules of this module that a compiler does not know,
// as tests. They run in plain `go test ./...`:
//
//   - floors: which package may import which, and which outside modules
//     (floors_test.go; the policy is a table at its top);
//   - seams: time, chance, goroutines, system calls and unsafe enter in listed
//     files only (seams_test.go; the list is in permits_test.go);
//   - order: the files of stack stand in groups, and few uses go from one to another above it
//     (order_test.go);
//   - machines: the word of a state machine is written in one file (machines_test.go);
//   - lines: package stack, and each file of it, stays short (lines_test.go);
//   - escapes: a function marked //alloc:none makes nothing on the heap, as
//     told by the compiler (escapes_test.go);
//   - features: what docs/features.md says is shown, by tests that exist (features_test.go);
//   - guarantees: each of docs/guarantees.md is shown by tests that exist, and tests named
//     TestG1… stand in the row of theirs (guarantees_test.go);
//   - pages: links lead somewhere, names in code quotes exist, README.md and
//     ARCHITECTURE.md stay short (pages_test.go), code in pages compiles (snippets_test.go), and
//     what they quote of programs stands there (quotes_test.go);
//   - docs: every package has a doc.go and an Example that runs, every exported
//     name a comment, and no line of a comment is too long (docs_test.go).
//
// The policies are statements of intent, after go/build/deps_test.go of the
// standard library. Nobody edits one to make a build pass: a new arrow or a new
// permit is a change of design, and its reason belongs in the commit.
//
// Each gate is a function from a tree of sources to a list of problems, so that
// its own tests can hand it a tree that is broken on purpose. A gate that finds
// nothing to check reports that as a problem: a rule that looks at nothing
// would pass for ever.
//
// # How to read a failure
//
// A problem names the file and line, the rule, and what to do instead. For an
// escape, the line is in the marked function, even if the cause is a callee
// that was inlined there. Calls that are not inlined are not looked into: a
// slow path is a function of its own, marked //go:noinline, and may allocate.
// What only a run can show (an append that grows, a map, a callee) is the
// matter of housetest.ZeroAlloc, which counts mallocs.
//
// This package imports no other of the module and is imported by none.
package check
