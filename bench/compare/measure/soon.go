package measure

import "time"

// Soon is when the i-th timer fires: after 1 to 10 ms.
func Soon(i int) time.Duration { return time.Duration(1+i%10) * time.Millisecond }
