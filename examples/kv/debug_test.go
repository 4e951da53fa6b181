package main

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDebugGC: a collection has ended when it is answered, and took some time.
func TestDebugGC(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		before := collections(c)
		took, err := strconv.Atoi(c.do("DEBUG", "GC")[1:])
		require.NoError(t, err)
		require.Positive(t, took)
		require.Greater(t, collections(c), before)
		c.answers([][2]string{
			{"SET a 1", "+OK"},
			{"DEBUG GC now", "-ERR wrong number of arguments for 'debug|gc' command"},
			{"DEBUG", "-ERR wrong number of arguments for 'debug' command"},
			{"DEBUG SLEEP 1", "-ERR unknown subcommand 'SLEEP'. Try DEBUG HELP."},
		}...)
	})
}

// collections is what INFO counts.
func collections(c *client) int {
	c.t.Helper()
	found := regexp.MustCompile(` collections:(\d+) `).FindStringSubmatch(c.do("INFO"))
	require.NotNil(c.t, found)
	n, err := strconv.Atoi(found[1])
	require.NoError(c.t, err)
	return n
}
