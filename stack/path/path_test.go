package path

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var goodPaths = []string{
	"/user",
	"/system",
	"/user/orders/order.42",
	"/user/$7/$18446744073709551615",
	"/system/a-b_c.d~e@f:g+h",
	"stackhouse://shop/user/orders/order.42",
	"stackhouse://shop@10.0.0.7:7400/user",
	"stackhouse://my-Shop_2.eu@node-3.example.org:1/system/x",
	"stackhouse://shop@[::1]:65535/user/a",
	"stackhouse://shop@[2001:db8::7]:7400/user/a",
}

var badPaths = []string{
	"", "/", "user", "user/a", "/users", "/user/", "/user//a", "/user/a/", "/User/a", "//user/a",
	"/user/a b", "/user/é", "/user/\x00", "/user/a?b", "/user/a#b", "/user/%41",
	"/user/$", "/user/$07", "/user/$-1", "/user/$18446744073709551616", "/user/$a", "/user/a$",
	"/user/" + strings.Repeat("a", 256), "/user" + strings.Repeat("/a", 2100),
	"stackhouse:/user", "stackhouse:///user", "stackhouse://shop", "stackhouse://shop/", "stackhouse://@h:1/user",
	"stackhouse://shop@/user", "stackhouse://shop@h/user", "stackhouse://shop@h:/user", "stackhouse://shop@h:0/user",
	"stackhouse://shop@h:01/user", "stackhouse://shop@h:65536/user", "stackhouse://shop@h:+1/user", "stackhouse://shop@:1/user",
	"stackhouse://shop@H:1/user", "stackhouse://shop@::1:1/user", "stackhouse://shop@[::1:1/user", "stackhouse://shop@[0::1]:1/user",
	"stackhouse://shop@[1.2.3.4]:1/user", "stackhouse://shop@[fe80::1%eth0]:1/user", "stackhouse://a@b@c:1/user", "stackhouse://sh op/user",
	"http://shop/user", "STACKHOUSE://shop/user",
}

func TestParse(t *testing.T) {
	seen := map[Path]string{}
	for _, text := range goodPaths {
		p, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, p.String())
		require.Empty(t, seen[p], text)
		seen[p] = text
	}
	for _, text := range badPaths {
		p, err := Parse(text)
		require.Error(t, err, "%q", text)
		require.ErrorIs(t, err, errPath)
		require.Zero(t, p)
	}
}

func TestPathParts(t *testing.T) {
	p, err := Parse("stackhouse://shop@[::1]:7400/user/orders/order.42.b")
	require.NoError(t, err)
	kind, id := p.Kind()
	require.Equal(t, []string{"shop", "[::1]:7400", "shop@[::1]:7400", "/user/orders/order.42.b", "order.42.b", "order", "42.b"},
		[]string{p.System(), p.Address(), p.Origin(), p.Local(), p.Name(), kind, id})
	var up []string
	for ok := true; ok; p, ok = p.Parent() {
		up = append(up, p.String())
	}
	require.Equal(t, []string{
		"stackhouse://shop@[::1]:7400/user/orders/order.42.b", "stackhouse://shop@[::1]:7400/user/orders", "stackhouse://shop@[::1]:7400/user",
	}, up)
	local, err := Parse("/user/orders")
	require.NoError(t, err)
	kind, id = local.Kind()
	require.Equal(t, []string{"", "", "orders", ""}, []string{local.System(), local.Address(), kind, id})
	_, ok := Path{}.Parent()
	require.False(t, ok)
	require.Empty(t, Path{}.String()+Path{}.Name())
}

// FuzzPath: String gives an accepted text back byte for byte, and its parts make the path again.
func FuzzPath(f *testing.F) {
	for _, text := range append(goodPaths, badPaths...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			if p != (Path{}) {
				t.Errorf("%q is refused, and %q", text, p)
			}
			return
		}
		if p.String() != text {
			t.Errorf("%q is given back as %q", text, p)
		}
		if local, err := Parse(p.Local()); err != nil || local.Local() != p.Local() || local.System() != "" {
			t.Errorf("%q is %q in its system: %v", text, local, err)
		}
		if p.System() != "" {
			if origin, err := NewOrigin(p.System(), p.Address()); err != nil || origin.Below(p.Local()) != p {
				t.Errorf("%q is of the system %q: %v", text, origin, err)
			}
		}
		if up, ok := p.Parent(); ok {
			if again, err := Parse(up.String()); err != nil || again != up || up.String()+"/"+p.Name() != text {
				t.Errorf("%q is below %q: %v", text, up, err)
			}
		}
	})
}
