// Package quota bounds how many actors of one kind there are at a time.
package quota
