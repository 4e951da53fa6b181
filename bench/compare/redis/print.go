package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// line is a row as other programs read it; what wasn't measured is null.
type line struct {
	Server   string   `json:"server"`
	With     string   `json:"with"`
	Test     string   `json:"test"`
	Pipeline int      `json:"pipeline"`
	Figure   string   `json:"figure"`
	Value    *float64 `json:"value"`
	Other    *float64 `json:"other"`
	Ratio    *float64 `json:"ratio"`
	Spread   *float64 `json:"spread"`
	Limit    *float64 `json:"limit"`
	Missed   bool     `json:"missed"`
}

// printRows shows the rows, and returns errMissed if a limit is.
func printRows(out io.Writer, o options, about string, rows []row) error {
	if o.json {
		e := json.NewEncoder(out)
		for _, r := range rows {
			if err := e.Encode(line{r.kind.name, r.with.name, r.command, r.pipeline, r.name, known(r.value), known(r.other),
				known(r.ratio), known(r.spread), known(r.limit), r.missed}); err != nil {
				return err
			}
		}
	} else {
		printTable(out, o, about, rows)
	}
	for _, r := range rows {
		if r.missed {
			return errMissed
		}
	}
	return nil
}

func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

const columns = "%-18s %-5s %3s %12s %12s %8s %6s %6s %s\n"

func printTable(out io.Writer, o options, about string, rows []row) {
	fmt.Fprintf(out, "%s\n%d requests a test, median of %d rounds and half their range\n", about, o.requests, o.reps)
	title := ""
	for _, r := range rows {
		if t := r.kind.name + " / " + r.with.name; t != title {
			title = t
			fmt.Fprintf(out, "\n%s\n", title)
			fmt.Fprintf(out, columns, "", "test", "-P", "left", "right", "ratio", "±", "limit", "")
		}
		limit, verdict := "", ""
		switch {
		case math.IsNaN(r.limit):
		case r.least:
			limit = ">" + number(r.limit, 2)
		default:
			limit = "<" + number(r.limit, 2)
		}
		if r.missed {
			verdict = "MISSED"
		}
		digits := 0
		if r.value < 100 {
			digits = 3
		}
		fmt.Fprintf(out, columns, r.name, strings.ToUpper(r.command), fmt.Sprint(r.pipeline), number(r.value, digits), number(r.other, digits),
			number(r.ratio, 2), number(r.spread, 2), limit, verdict)
	}
}

// number is "-" for what wasn't measured.
func number(v float64, digits int) string {
	if known(v) == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, v)
}
