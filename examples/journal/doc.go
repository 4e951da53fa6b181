// Journal is a server that appends lines to a file, and answers "OK <offset>" when one is on disk.
// Those that come during a write share the next one, and its fsync: group commit.
package main
