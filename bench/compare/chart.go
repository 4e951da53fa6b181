package main

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of the chart, in pixels.
const (
	barHeight = 12
	groupGap  = 12
	labels    = 120 // left of the bars
	plot      = 640
	values    = 60 // right of them
	top       = 56
)

// colours of the libraries, in their order: readable on white, and for the colour-blind.
var colours = map[string]string{
	ours:         "#0072b2",
	"mutex":      "#e69f00",
	"protoactor": "#cc79a7",
	hollywood:    "#d55e00",
	"erlang":     "#009e73",
}

// chart draws the factors as bars on a logarithmic scale. They begin at the line of 1,
// which is channels: to the left is faster, to the right slower.
func chart(o options, rows []row) []byte {
	low, high := bounds(rows)
	x := func(f float64) float64 { return labels + plot*(math.Log10(f)-low)/(high-low) }
	var bars strings.Builder
	y, last := top, ""
	for _, r := range rows {
		if !(r.factor.median > 0) || r.library == baseline {
			continue
		}
		if r.workload != last {
			if last != "" {
				y += groupGap
			}
			fmt.Fprintf(&bars, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labels-8, y+barHeight-2, r.workload)
			last = r.workload
		}
		bar(&bars, r, x, y)
		y += barHeight
	}
	var s strings.Builder
	width, bottom := labels+plot+values, y+8
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		width, bottom+24, width, bottom+24)
	fmt.Fprintf(&s, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, bottom+24)
	fmt.Fprintf(&s, `<text x="%d" y="18" font-size="13">Time of an operation as a factor of goroutines with channels (less is better)</text>`+"\n", labels)
	key(&s, o)
	for p := low; p <= high; p++ {
		at := x(math.Pow(10, p))
		fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s"/>`+"\n", at, at, top-4, bottom, gridColour(p))
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", at, bottom+14, math.Pow(10, p))
	}
	s.WriteString(bars.String())
	s.WriteString("</svg>\n")
	return []byte(s.String())
}

// bar draws one row, its number at the end of the bar.
func bar(s *strings.Builder, r row, x func(float64) float64, y int) {
	f := r.factor.median
	from, to, number := x(min(f, 1)), x(max(f, 1)), number(f)
	fmt.Fprintf(s, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s by %s: %s</title></rect>`+"\n",
		from, y, to-from, barHeight-2, colours[r.library], r.workload, r.library, number)
	at, anchor := to+4, "start"
	if f < 1 {
		at, anchor = from-4, "end"
	}
	fmt.Fprintf(s, `<text x="%.1f" y="%d" text-anchor="%s" font-size="9" fill="#555">%s</text>`+"\n", at, y+barHeight-3, anchor, number)
}

// key draws which colour is whose.
func key(s *strings.Builder, o options) {
	x := labels
	for _, l := range o.libraries {
		if l.name == baseline {
			continue
		}
		fmt.Fprintf(s, `<rect x="%d" y="28" width="10" height="10" fill="%s"/><text x="%d" y="37">%s</text>`+"\n", x, colours[l.name], x+14, l.name)
		x += 110
	}
}

func gridColour(power float64) string {
	if power == 0 {
		return "#000"
	}
	return "#ddd"
}

// bounds returns the powers of ten around the factors.
func bounds(rows []row) (low, high float64) {
	low, high = -1, 1
	for _, r := range rows {
		if f := r.factor.median; f > 0 {
			low = min(low, math.Floor(math.Log10(f)))
			high = max(high, math.Ceil(math.Log10(f)))
		}
	}
	return low, high
}
