package cron

import (
	"errors"
	"fmt"
	"time"

	"github.com/netresearch/go-cron"

	"github.com/stackhouse-go/stackhouse/core"
)

// ErrNever is in the error of Parse if a line has no time to come, as on the 31st of February.
var ErrNever = errors.New("cron: a line that never fires")

// lineMax is the longest line that is read.
const lineMax = 1024

// calendar is a line, in a place.
type calendar struct {
	line   cron.Schedule
	in     *time.Location
	hourly bool // at all hours
}

// Parse reads a line: five fields (minute, hour, day of the month, month, day of the week), six
// with seconds before them, and a year may stand behind; or @hourly, @daily, @weekly, @monthly,
// @yearly. If both days are restricted, either of them will do. nil: the line is about UTC,
// unless it begins with a zone, as in "TZ=Europe/Berlin 30 2 * * *". Where clocks are put forward
// by an hour, what is due at a time that doesn't exist that day fires an hour later; where they
// are put back, what names hours fires at the first of two equal times.
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

// parse is the parser's, contained: it reads what strangers may have written.
func parse(line string) (parsed cron.Schedule, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the parser failed: %v", value)
		}
	}()
	return cron.FullParser().Parse(line)
}

// Next returns the first time of the line behind after; the zero time: there is none.
func (c calendar) Next(after time.Time) time.Time {
	for at := after.In(c.in); ; {
		if at = c.line.Next(at); at.IsZero() || c.hourly || !again(at) {
			return at
		}
	}
}

// hourly reports whether a line is about all hours.
func hourly(line cron.Schedule) bool {
	spec, fields := line.(*cron.SpecSchedule)
	const all = 1<<24 - 1
	return !fields || spec.Hour&all == all
}

// again reports whether clocks were put back of late, and have shown the time before that already.
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
