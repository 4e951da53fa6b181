package stack

// keeper answers an ask when it is told to, or at once.
type keeper struct{ kept []*keptStack }

type keptStack struct {
	AskStack[int, int]
	never Future[struct{}]
}

func (k *keeper) ask(s *keptStack) Yield {
	if s.Req >= 0 {
		return s.Return(s.Req)
	}
	k.kept = append(k.kept, s)
	s.Alarm(s.never.Promise(), 1<<60, 0)
	return Suspend(s, (*keeper).end)
}

func (k *keeper) end(s *keptStack) Yield { return s.Return(s.Req) }

var keeperAsk = newAsk((*keeper).ask)
