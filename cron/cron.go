package cron

import (
	"errors"
	"fmt"
	"time"

	"github.com/netresearch/go-cron"

	"github.com/stackhouse-go/stackhouse/core"
)

// ErrNever is in the error of Parse if a line fires at no time in the future, as one for the 31st
// of February does.
var ErrNever = errors.New("cron: a line that never fires")

// lineMax is the longest line that Parse reads, in bytes.
const lineMax = 1024

// calendar is a line and the time zone that it is about.
type calendar struct {
	line   cron.Schedule
	in     *time.Location
	hourly bool // the line names no hours
}

// Parse reads a line: five fields (minute, hour, day of the month, month, day of the week); six
// with seconds before them; a year may follow. Or @hourly, @daily, @weekly, @monthly, @yearly. If
// both kinds of days are restricted the line fires on days that match either. The zone is in, or
// UTC if in is nil, unless the line begins with a zone, as in "TZ=Europe/Berlin 30 2 * * *". Where
// clocks are put forward by an hour, a time that doesn't exist that day fires an hour later; where
// they are put back, a line that names hours fires at the first of two equal times. Any goroutine
// may call it.
func Parse(line string, in *time.Location) (core.Calendar, error) {
	if len(line) > lineMax {
		return nil, fmt.Errorf("cron: a line of %d bytes, %d are possible", len(line), lineMax)
	}
	if in == nil {
		in = time.UTC
	}
	parsed, err := parse(line)
	if err != nil {
		return nil, fmt.Errorf("cron: %q: %w", line, err)
	}
	c := calendar{parsed, in, hourly(parsed)}
	if c.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("%w: %q", ErrNever, line)
	}
	return c, nil
}

// parse calls the parser and turns its panics into errors: strangers may have written the line.
func parse(line string) (parsed cron.Schedule, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the parser failed: %v", value)
		}
	}()
	return cron.FullParser().Parse(line)
}

// Next returns the first time later than after at which the line fires; the zero time: there is
// none.
func (c calendar) Next(after time.Time) time.Time {
	for at := after.In(c.in); ; {
		if at = c.line.Next(at); at.IsZero() || c.hourly || !again(at) {
			return at
		}
	}
}

// hourly reports whether a line fires in every hour.
func hourly(line cron.Schedule) bool {
	spec, fields := line.(*cron.SpecSchedule)
	const all = 1<<24 - 1
	return !fields || spec.Hour&all == all
}

// again reports whether clocks were put back in the three hours before at, and showed the same time
// before that already.
func again(at time.Time) bool {
	_, now := at.Zone()
	_, before := at.Add(-3 * time.Hour).Zone()
	back := time.Duration(before-now) * time.Second
	if back <= 0 {
		return false
	}
	_, then := at.Add(-back).Zone()
	return then == before
}
