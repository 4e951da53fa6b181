// Package script runs tests that are written as documents: conversations in files of testdata,
// with what comes of each line below it, indented by a tab. Empty lines and those that begin with
// "#" are for the reader.
//
//	# An actor without hooks is up from birth.
//	new
//		up
//
// [Files] plays files and compares; with the flag -update it writes what comes of each line now,
// and the difference is for git to show. [Play] is one script without its file.
package script
