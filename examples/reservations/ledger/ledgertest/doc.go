// Package ledgertest is a ledger that is too simple to be wrong, to compare others with.
package ledgertest
