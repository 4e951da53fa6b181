package cron_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a machine may have none

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/cron"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func berlin(t testing.TB) *time.Location {
	in, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return in
}

// next returns the times of a line that follow a time.
func next(t *testing.T, line string, in *time.Location, from string, n int) (all []string) {
	t.Helper()
	c, err := cron.Parse(line, in)
	require.NoError(t, err)
	at, err := time.ParseInLocation("2006-01-02 15:04:05", from, in)
	require.NoError(t, err)
	for range n {
		at = c.Next(at)
		all = append(all, at.Format("2006-01-02 15:04:05"))
	}
	return all
}

func TestParse(t *testing.T) {
	require.Equal(t, []string{"2027-01-04 02:30:00", "2027-01-05 02:30:00"}, next(t, "30 2 * * 1-5", time.UTC, "2027-01-01 12:00:00", 2))
	require.Equal(t, []string{"2028-02-29 00:00:00", "2032-02-29 00:00:00"}, next(t, "0 0 29 2 *", time.UTC, "2027-01-01 12:00:00", 2))
	require.Equal(t, []string{"2027-01-01 12:00:10", "2027-01-01 12:00:20"}, next(t, "*/10 * * * * *", time.UTC, "2027-01-01 12:00:00", 2))
	require.Equal(t, []string{"2027-01-02 00:00:00"}, next(t, "@daily", time.UTC, "2027-01-01 00:00:00", 1))
	for _, line := range []string{"", "* * * *", "60 * * * *", "x", "* * * * * * * *", "@never", strings.Repeat("1,", 600) + "1 * * * *"} {
		_, err := cron.Parse(line, nil)
		require.Error(t, err, "%q", line)
	}
	_, err := cron.Parse("0 0 31 2 *", nil)
	require.ErrorIs(t, err, cron.ErrNever)
}

// Where clocks change, what names an hour fires once a day, and what doesn't at each hour that
// passes.
func TestClocksChange(t *testing.T) {
	require.Equal(t, []string{"2027-03-27 02:30:00", "2027-03-28 03:30:00", "2027-03-29 02:30:00"}, next(t, "30 2 * * *", berlin(t), "2027-03-27 00:00:00", 3))
	require.Equal(t, []string{"2027-10-31 02:00:00", "2027-10-31 02:30:00", "2027-11-01 02:00:00"}, next(t, "0,30 2 * * *", berlin(t), "2027-10-31 00:00:00", 3))
	require.Equal(t, []string{"2027-10-31 02:30:00", "2027-10-31 02:30:00", "2027-10-31 03:30:00"}, next(t, "30 * * * *", berlin(t), "2027-10-31 01:30:00", 3))
	require.Equal(t, []string{"2027-10-31 02:30:00", "2027-10-31 04:30:00"}, next(t, "0 30 */2 * * *", berlin(t), "2027-10-31 01:30:00", 2))
}

// FuzzParse: no line makes it panic, and times go forward.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"30 2 * * 1-5", "*/10 * * * * * 2030", "0 0 L * *", "0 0 15W * *", "0 0 * * 5#3", "@weekly", "0 0 31 2 *", "1-70/0 * * * *"} {
		f.Add(line)
	}
	in := berlin(f)
	f.Fuzz(func(t *testing.T, line string) {
		c, err := cron.Parse(line, in)
		if err != nil {
			return
		}
		at := time.Date(2027, 3, 27, 0, 0, 0, 0, in)
		for range 5 {
			behind := c.Next(at)
			if behind.IsZero() {
				return
			}
			if !behind.After(at) {
				t.Fatalf("%q: behind %v comes %v", line, at, behind)
			}
			at = behind
		}
	})
}

type clerk struct{ reports int }

func (c *clerk) report(s *core.NoticeStack[struct{}]) core.Yield {
	c.reports++
	return s.Return()
}

var clerkReport = core.HandleNotice((*clerk).report)

// A schedule by a line, in a simulation whose time of day passes with its clock.
func TestSchedule(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	begin, wall := sim.Now, time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return wall.Add(time.Duration(sim.Now - begin)) }
	schedules := core.Spawn(sim, func() *core.Schedules { return core.NewSchedules(clock) })
	c := &clerk{}
	hourly, err := cron.Parse("5 * * * *", time.UTC)
	require.NoError(t, err)
	_, err = housetest.Ask(t, sim, core.SchedulesAdd.At(schedules), core.Schedule{
		Name: "report", Times: core.By(hourly), Send: core.Sending(clerkReport.At(core.Spawn(sim, func() *clerk { return c })), struct{}{}),
	})
	require.NoError(t, err)
	for range 24 * 60 {
		sim.Run(time.Minute)
	}
	require.Equal(t, 24, c.reports)
}

func ExampleParse() {
	c, err := cron.Parse("30 2 * * 1-5", time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Next(time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)))
	// Output: 2027-01-04 02:30:00 +0000 UTC
}
