package housetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// encodePlan writes a plan as text that may stand between the quotes of a shell. It leaves out what
// is zero.
func encodePlan[P any](plan P) (string, error) {
	b, err := json.Marshal(plan)
	if err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // a seed has more bits than a float64
	var tree any
	if err = d.Decode(&tree); err != nil {
		return "", err
	}
	prune(tree)
	b, err = json.Marshal(tree)
	return strings.ReplaceAll(string(b), "'", `\u0027`), err
}

// prune removes the fields that are zero, and reports whether nothing is left.
func prune(tree any) (empty bool) {
	switch x := tree.(type) {
	case map[string]any:
		for name, field := range x {
			if prune(field) {
				delete(x, name)
			}
		}
		return len(x) == 0
	case []any:
		for _, elem := range x {
			prune(elem)
		}
		return len(x) == 0
	}
	return tree == nil || tree == "" || tree == false || tree == json.Number("0")
}

func decodePlan[P any](text string) (plan P, err error) {
	d := json.NewDecoder(bytes.NewBufferString(text))
	d.DisallowUnknownFields() // the plan of another test
	if err = d.Decode(&plan); err != nil {
		err = fmt.Errorf("housetest: %w in the plan %s", err, text)
	}
	return plan, err
}

// keep is the tag of fields that shrink leaves alone.
const keep = "-"

// shrink makes v simpler, in one place after the other, as long as fails reports true of what it
// has become; otherwise it takes that step back. It reports whether v is simpler now.
func shrink(v reflect.Value, fails func() bool) (simpler bool) {
	set := func(to reflect.Value) bool {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		if v.Set(to); fails() {
			return true
		}
		v.Set(was)
		return false
	}
	if v.IsZero() {
		return false
	}
	switch v.Kind() {
	case reflect.Slice:
		simpler = shorten(v, set)
		for i := range v.Len() {
			simpler = shrink(v.Index(i), fails) || simpler
		}
		return simpler
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return lessen(v.Int(), func(n int64) bool { return set(reflect.ValueOf(n).Convert(v.Type())) })
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return lessen(v.Uint(), func(n uint64) bool { return set(reflect.ValueOf(n).Convert(v.Type())) })
	case reflect.Struct:
		if !keeps(v.Type()) && set(reflect.Zero(v.Type())) {
			return true
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("shrink") != keep && v.Field(i).CanSet() {
				simpler = shrink(v.Field(i), fails) || simpler
			}
		}
		return simpler
	case reflect.Pointer:
		return set(reflect.Zero(v.Type())) || shrink(v.Elem(), fails)
	}
	return set(reflect.Zero(v.Type()))
}

// keeps reports whether something in a type is to be left alone.
func keeps(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("shrink") == keep || f.Type.Kind() == reflect.Struct && keeps(f.Type) {
			return true
		}
	}
	return false
}

// shorten leaves out all elements, halves, quarters and so on, down to single ones.
func shorten(v reflect.Value, set func(reflect.Value) bool) (simpler bool) {
	for size := v.Len(); size > 0; size /= 2 {
		for from := 0; from < v.Len(); {
			to := min(from+size, v.Len())
			less := reflect.MakeSlice(v.Type(), 0, v.Len())
			less = reflect.AppendSlice(less, v.Slice(0, from))
			if less = reflect.AppendSlice(less, v.Slice(to, v.Len())); set(less) {
				simpler = true
			} else {
				from = to
			}
		}
	}
	return simpler
}

// lessen makes n less by all of it, half of it and so on; large numbers to within a sixteenth.
func lessen[N int64 | uint64](n N, set func(N) bool) (simpler bool) {
	if n < 0 {
		return set(0)
	}
	for step := n; step > 0 && (n < 1000 || step >= n/16); step /= 2 {
		for step <= n && n > 0 && set(n-step) {
			n -= step
			simpler = true
		}
	}
	return simpler
}
