%% The workloads by Erlang processes and messages. Run by erlang.go:
%%
%%     erl -noshell -run bench main tell-1-1 1000000
%%
%% All is done twice, and the second time counts, as in the other libraries. The result
%% is one line of JSON; what goes wrong ends the VM with code 1.
-module(bench).
-export([main/1]).

-define(BURST, 128).
-define(BURSTS, 4).
-define(WIDTH, 1000).

main([Name, Count]) ->
    N = list_to_integer(Count),
    try
        Do = workload(Name),
        Do(N),
        erlang:garbage_collect(),
        Before = memory(Name),
        From = erlang:monotonic_time(nanosecond),
        {Ops, Times} = Do(N),
        Ns = erlang:monotonic_time(nanosecond) - From,
        Bytes = (memory(Name) - Before) div Ops,
        [P50, P99, P999] = quantiles(Times),
        io:format("{\"ops\":~b,\"ns\":~b,\"p\":[~b,~b,~b],\"bytes\":~b}~n", [Ops, Ns, P50, P99, P999, Bytes]),
        halt(0)
    catch
        Class:Reason:Trace ->
            io:format(standard_error, "~p ~p~n~p~n", [Class, Reason, Trace]),
            halt(1)
    end.

workload("tell-1-1") -> fun(N) -> tell(1, N) end;
workload("tell-8-1") -> fun(N) -> tell(8, N) end;
workload("tell-actor") -> fun tell_actor/1;
workload("tell-cross") -> fun tell_actor/1;
workload("fanout-1000") -> fun fanout/1;
workload("pingpong-1") -> fun pingpong/1;
workload("pingpong-64") -> fun pairs/1;
workload("ask-in-actor") -> fun(N) -> ask(64, N) end;
workload("ask-cross") -> fun ask_many/1;
workload("ask-cross-1") -> fun(N) -> ask(16, N) end;
workload("ask-guest") -> fun(N) -> ask(16, N) end;
workload("ask-64-1") -> fun askers/1;
workload("spawn") -> fun idlers/1;
workload("skynet") -> fun skynet/1;
workload("ring503") -> fun ring/1;
workload("timers") -> fun timers/1.

%% What n numbers come to, and whether they did.

sum(N) -> N * (N + 1) div 2.

right(Sum, Sum) -> ok.

%% collect sums the reports of so many processes.
collect(Count) -> collect(Count, 0).

collect(0, Sum) -> Sum;
collect(Count, Sum) ->
    receive
        {report, S} -> collect(Count - 1, Sum + S)
    after 90000 -> exit({missing, Count})
    end.

%% Tells.

counter(Boss) ->
    receive
        {expect, N} -> count(Boss, N, 0), counter(Boss);
        stop -> ok
    end.

count(Boss, 0, Sum) -> Boss ! {report, Sum};
count(Boss, Left, Sum) ->
    receive
        {note, N} -> count(Boss, Left - 1, Sum + N);
        {handled, From} -> From ! handled, count(Boss, Left, Sum)
    end.

tell(Producers, N) ->
    Self = self(),
    To = spawn_link(fun() -> counter(Self) end),
    To ! {expect, N},
    [spawn_link(fun() -> produce(To, P, Producers, N) end) || P <- lists:seq(1, Producers)],
    right(collect(1), sum(N)),
    To ! stop,
    {N, []}.

produce(To, I, Step, N) when I =< N -> To ! {note, I}, produce(To, I + Step, Step, N);
produce(_, _, _, _) -> ok.

tell_actor(N) ->
    Self = self(),
    To = spawn_link(fun() -> counter(Self) end),
    To ! {expect, N},
    spawn_link(fun() -> source(To, 1, N) end),
    right(collect(1), sum(N)),
    To ! stop,
    {N, []}.

%% source keeps a few bursts under way, as in the other libraries.
source(To, Next, N) ->
    bursts(To, lists:foldl(fun(_, I) -> burst(To, I, N) end, Next, lists:seq(1, ?BURSTS)), N).

bursts(To, Next, N) when Next =< N -> receive handled -> bursts(To, burst(To, Next, N), N) end;
bursts(_, _, _) -> ok.

burst(To, Next, N) ->
    Last = min(Next + ?BURST - 1, N),
    [To ! {note, I} || I <- lists:seq(Next, Last)],
    To ! {handled, self()},
    Last + 1.

fanout(N) ->
    Self = self(),
    Rounds = max(1, N div ?WIDTH),
    All = [spawn_link(fun() -> counter(Self) end) || _ <- lists:seq(1, ?WIDTH)],
    [To ! {expect, Rounds} || To <- All],
    [[To ! {note, R} || To <- All] || R <- lists:seq(1, Rounds)],
    right(collect(?WIDTH), ?WIDTH * sum(Rounds)),
    [To ! stop || To <- All],
    {Rounds * ?WIDTH, []}.

%% Round trips by tells.

pong() ->
    receive
        {ping, N, Back} -> Back ! {pong, N + 1}, pong();
        stop -> ok
    end.

pingpong(N) ->
    To = spawn_link(fun pong/0),
    {Sum, Times} = trips(To, 0, N, 0, [], 16),
    right(Sum, sum(N)),
    To ! stop,
    {N, Times}.

trips(_, N, N, Sum, Times, _) -> {Sum, Times};
trips(To, I, N, Sum, Times, Every) when I rem Every =:= 0 ->
    From = erlang:monotonic_time(nanosecond),
    M = trip(To, I),
    trips(To, I + 1, N, Sum + M, [erlang:monotonic_time(nanosecond) - From | Times], Every);
trips(To, I, N, Sum, Times, Every) -> trips(To, I + 1, N, Sum + trip(To, I), Times, Every).

trip(To, I) ->
    To ! {ping, I, self()},
    receive {pong, M} -> M end.

pairs(N) ->
    Self = self(),
    Trips = max(1, N div 2 div 64),
    [spawn_link(fun() ->
        To = spawn_link(fun pong/0),
        {Sum, _} = trips(To, 0, Trips, 0, [], Trips + 1),
        To ! stop,
        Self ! {report, Sum}
    end) || _ <- lists:seq(1, 64)],
    right(collect(64), 64 * sum(Trips)),
    {64 * 2 * Trips, []}.

%% Asks: a call as gen_server's, with a reference and a timeout, but no monitor.

echo() ->
    receive
        {call, {From, Ref}, N} -> From ! {Ref, N + 1}, echo();
        stop -> ok
    end.

call(To, N) ->
    Ref = make_ref(),
    To ! {call, {self(), Ref}, N},
    receive {Ref, M} -> M after 5000 -> exit(timeout) end.

ask(Every, N) ->
    To = spawn_link(fun echo/0),
    {Sum, Times} = calls(To, 0, N, 0, [], Every),
    right(Sum, sum(N)),
    To ! stop,
    {N, Times}.

calls(_, N, N, Sum, Times, _) -> {Sum, Times};
calls(To, I, N, Sum, Times, Every) when I rem Every =:= 0 ->
    From = erlang:monotonic_time(nanosecond),
    M = call(To, I),
    calls(To, I + 1, N, Sum + M, [erlang:monotonic_time(nanosecond) - From | Times], Every);
calls(To, I, N, Sum, Times, Every) -> calls(To, I + 1, N, Sum + call(To, I), Times, Every).

%% ask_many keeps 64 asks of one process in flight.
ask_many(N) ->
    To = spawn_link(fun echo/0),
    Share = max(1, N div 64),
    All = 64 * Share,
    [To ! {call, {self(), I}, I} || I <- lists:seq(0, min(64, All) - 1)],
    right(answers(To, 64, All, All, 0), sum(All)),
    To ! stop,
    {All, []}.

answers(_, _, _, 0, Sum) -> Sum;
answers(To, Next, All, Left, Sum) ->
    receive
        {_, M} when Next < All ->
            To ! {call, {self(), Next}, Next},
            answers(To, Next + 1, All, Left - 1, Sum + M);
        {_, M} -> answers(To, Next, All, Left - 1, Sum + M)
    after 5000 -> exit(timeout)
    end.

askers(N) ->
    Self = self(),
    To = spawn_link(fun echo/0),
    Share = max(1, N div 64),
    [spawn_link(fun() ->
        {Sum, _} = calls(To, 0, Share, 0, [], Share + 1),
        Self ! {report, Sum}
    end) || _ <- lists:seq(1, 64)],
    right(collect(64), 64 * sum(Share)),
    To ! stop,
    {64 * Share, []}.

%% Births. An idler reports by words that all share, as in the other libraries.

idlers(N) ->
    Tally = atomics:new(2, []),
    Self = self(),
    [spawn(fun() -> idle(Self, Tally, N) end) ! {note, I} || I <- lists:seq(1, N)],
    receive handled -> ok end,
    right(atomics:get(Tally, 1), sum(N)),
    {N, []}.

idle(Boss, Tally, N) ->
    receive
        {note, I} ->
            atomics:add(Tally, 1, I),
            case atomics:add_get(Tally, 2, 1) of
                N -> Boss ! handled;
                _ -> ok
            end,
            idle(Boss, Tally, N)
    end.

skynet(N) ->
    Leaves = leaves(N, 10),
    Trees = max(1, N div Leaves),
    Self = self(),
    [begin
        spawn_link(fun() -> grow(Self, 0, Leaves) end),
        right(collect(1), sum(Leaves - 1))
    end || _ <- lists:seq(1, Trees)],
    {Trees * Leaves, []}.

leaves(N, L) when L < 100000, L * 10 =< N -> leaves(N, L * 10);
leaves(_, L) -> L.

grow(Parent, First, 1) -> Parent ! {report, First};
grow(Parent, First, Size) ->
    Self = self(),
    Part = Size div 10,
    [spawn_link(fun() -> grow(Self, First + I * Part, Part) end) || I <- lists:seq(0, 9)],
    Parent ! {report, collect(10)}.

%% A token passed around, and timers.

ring(N) ->
    Self = self(),
    Last = spawn_link(fun() -> receive {next, Next} -> link_of(Self, Next) end end),
    First = lists:foldl(fun(_, Next) -> spawn_link(fun() -> link_of(Self, Next) end) end, Last, lists:seq(2, 503)),
    Last ! {next, First},
    First ! {token, N, 0},
    right(collect(1), sum(N)),
    {N, []}.

link_of(Boss, Next) ->
    receive
        {token, 1, Sum} -> Boss ! {report, Sum + 1}, link_of(Boss, Next);
        {token, Left, Sum} -> Next ! {token, Left - 1, Sum + Left}, link_of(Boss, Next)
    end.

timers(N) ->
    [erlang:send_after(1 + (I - 1) rem 10, self(), {report, I}) || I <- lists:seq(1, N)],
    right(collect(N), sum(N)),
    {N, []}.

%% Figures.

memory("spawn") -> [erlang:garbage_collect(P) || P <- processes()], erlang:memory(total);
memory(_) -> 0.

quantiles([]) -> [0, 0, 0];
quantiles(Times) ->
    Sorted = list_to_tuple(lists:sort(Times)),
    Size = tuple_size(Sorted),
    [element(max(1, ceil(Q * Size)), Sorted) || Q <- [0.5, 0.99, 0.999]].
