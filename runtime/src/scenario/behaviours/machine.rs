//! `machine`: an actor that is in one of the states that its node lists, and does with a message what the state says.
//!
//! A message is treated by the state that it finds; then the first transition of that state that it meets is taken. A state
//! may also end by time. What a state postpones is stashed, and comes back at the next change of state, before anything
//! newer. A restart begins in the initial state; what was postponed then stands first in the mailbox.
//! I1 every change of state is an event, with both names; one to the same state counts as one.

use std::sync::Arc;
use std::time::Duration;

use super::super::plan::Params;
use super::worker::{Fails, fails};
use super::{Board, Knobs, Msg, Outlet, Task};
use crate::actor::{Actor, Context, Failure, Props};
use crate::observe::EventKind;

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] = &["served", "failed", "postponed", "transitions"];
const SERVED: usize = 0;
const FAILED: usize = 1;
const POSTPONED: usize = 2;
const TRANSITIONS: usize = 3;
/// The state that it is in; shown by its name.
pub(crate) const STATE: usize = 4;

/// What a node says of its states.
struct Book {
    names: Vec<Arc<str>>,
    states: Vec<State>,
    initial: usize,
}

struct State {
    does: Does,
    work: Duration,
    /// When it ends by itself, and what follows.
    ends: Option<(Duration, usize)>,
    transitions: Vec<Transition>,
}

#[derive(Clone, Copy)]
enum Does {
    Forward,
    Reply,
    Absorb,
    Postpone,
}

struct Transition {
    on: On,
    to: usize,
}

#[derive(Clone, Copy)]
enum On {
    Message,
    Urgent,
    Even,
    Odd,
    /// The nth message since the state was entered.
    Nth(u64),
}

impl On {
    fn is_met(self, task: &Task, nth: u64) -> bool {
        match self {
            On::Message => true,
            On::Urgent => task.rank == 0,
            On::Even => task.value % 2 == 0,
            On::Odd => task.value % 2 != 0,
            On::Nth(n) => nth == n,
        }
    }
}

/// Lists the names of a machine's states; one that lists none has its initial state alone.
pub(crate) fn names(params: &Params) -> Vec<&str> {
    match params.rows("states") {
        [] => vec![params.text("initial")],
        rows => rows.iter().map(|row| row.text("name")).collect(),
    }
}

impl Book {
    fn of(params: &Params) -> Self {
        let names: Vec<Arc<str>> = names(params).into_iter().map(Arc::from).collect();
        let place = |name: &str| names.iter().position(|n| **n == *name).unwrap_or(0);
        let state = |row: &Params| State {
            does: match row.text("does") {
                "reply" => Does::Reply,
                "absorb" => Does::Absorb,
                "postpone" => Does::Postpone,
                _ => Does::Forward,
            },
            work: row.millis("work_ms"),
            ends: Some(row.millis("after_ms"))
                .filter(|after| !after.is_zero())
                .map(|after| (after, place(row.text("after_to")))),
            transitions: Vec::new(),
        };
        let mut states: Vec<State> = params.rows("states").iter().map(state).collect();
        if states.is_empty() {
            let transitions = Vec::new();
            states.push(State { does: Does::Forward, work: Duration::ZERO, ends: None, transitions });
        }
        for row in params.rows("transitions") {
            let on = match row.text("on") {
                "urgent" => On::Urgent,
                "even" => On::Even,
                "odd" => On::Odd,
                "nth" => On::Nth(row.count("n").max(1)),
                _ => On::Message,
            };
            let to = place(row.text("to"));
            states[place(row.text("from"))].transitions.push(Transition { on, to });
        }
        let initial = place(params.text("initial"));
        Book { names, states, initial }
    }
}

/// Is in one state at a time.
pub(crate) struct Machine {
    board: Arc<Board>,
    node: usize,
    book: Arc<Book>,
    knobs: Knobs<Fails>,
    out: Outlet,
    state: usize,
    /// Messages since the state was entered.
    seen: u64,
}

impl Machine {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Machine> {
        let board = board.clone();
        let book = Arc::new(Book::of(&board.plan.nodes[node].params));
        Props::new(move || Machine {
            knobs: Knobs::new(&board.nodes[node], Fails::of),
            out: Outlet::new(&board, node, "out"),
            board: board.clone(),
            node,
            state: book.initial,
            book: book.clone(),
            seen: 0,
        })
    }

    fn serve(&mut self, cx: &mut Context<'_, Self>, task: Task) -> Result<(), Failure> {
        let cell = &self.board.nodes[self.node];
        let book = self.book.clone();
        let state = &book.states[self.state];
        self.seen += 1;
        let next = state.transitions.iter().find(|t| t.on.is_met(&task, self.seen)).map(|t| t.to);
        if let Does::Postpone = state.does {
            cell.add(POSTPONED, 1);
            cx.stash(Msg::Task(task))?;
        } else {
            cx.work(state.work);
            let served = cell.add(SERVED, 1);
            if fails(self.knobs.get(cell), served, cell, cx.rng()) {
                cell.add(FAILED, 1);
                let text = format!("task {} failed in state {}", task.id, book.names[self.state]);
                return Err(Failure::new("task", text).returning(Msg::Task(task)));
            }
            self.treat(cx, state.does, task);
        }
        if let Some(next) = next {
            self.enter(cx, next);
        }
        Ok(())
    }

    fn treat(&mut self, cx: &mut Context<'_, Self>, does: Does, mut task: Task) {
        match does {
            Does::Forward => self.out.send(cx, task),
            Does::Reply => {
                let reply = task.reply.take();
                reply.into_iter().for_each(|reply| reply.answer(cx, &self.board, self.node, task.clone()));
            }
            Does::Absorb | Does::Postpone => {}
        }
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>, next: usize) {
        let [from, to] = [self.state, next].map(|state| self.book.names[state].clone());
        cx.cell.head.record(EventKind::Transition { from, to });
        self.board.nodes[self.node].add(TRANSITIONS, 1);
        self.state = next;
        self.begin(cx);
        cx.unstash_all();
    }

    fn begin(&mut self, cx: &mut Context<'_, Self>) {
        self.seen = 0;
        self.board.nodes[self.node].put(STATE, self.state as u64);
        match self.book.states[self.state].ends {
            Some((after, _)) => cx.timers().once("state", after, Msg::Tick),
            None => drop(cx.timers().cancel("state")),
        }
    }
}

impl Actor for Machine {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        self.begin(cx);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        match message {
            Msg::Task(mut task) => {
                self.board.arrived(self.node, &mut task);
                self.serve(cx, task)?;
            }
            Msg::Tick => {
                if let Some((_, next)) = self.book.states[self.state].ends {
                    self.enter(cx, next);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
