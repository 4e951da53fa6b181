package store

import (
	"context"
	"strings"
)

// Open opens a PostgreSQL database if where is a URL, as in postgres://user@host/database, and
// else the files of bbolt in the folder where.
func Open(ctx context.Context, where string, partitions int) (Store, error) {
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return OpenPostgres(ctx, where, partitions)
	}
	return OpenBolt(where, partitions)
}
