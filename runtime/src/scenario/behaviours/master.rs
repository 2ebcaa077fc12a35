//! `master`: runs one job: sends tasks, matches the answers by their ids, and gives one result or aborts, once.
//!
//! I1 the job ends once: done when every task is answered, or aborted when a watched worker has ended, the time is over, or
//!    the master itself has failed; never both.
//! I2 an answer counts once; a second one for the same task is counted as a duplicate, one after the end as late.
//! I3 a turn sends [`BATCH`] tasks at most, then asks itself for the rest: a long job can be stopped between two turns.

use std::sync::Arc;
use std::time::Duration;

use super::super::plan::Params;
use super::pace::{Pacer, Pattern};
use super::{Board, Knobs, Marks, Msg, Outlet, ReplyTo, Task};
use crate::actor::{Actor, Context, Failure, Props};
use crate::time::nanos;

/// Names of this behaviour's counters.
pub(crate) const TALLIES: &[&str] =
    &["sent", "answered", "duplicates", "late", "done", "aborted", "response_ns_total", "response_ns_max"];
const SENT: usize = 0;
const ANSWERED: usize = 1;
const DUPLICATES: usize = 2;
const LATE: usize = 3;
const DONE: usize = 4;
const ABORTED: usize = 5;
const RESPONSE_TOTAL: usize = 6;
const RESPONSE_MAX: usize = 7;

/// Tasks of one turn, at most.
const BATCH: u64 = 256;

#[derive(Clone, Copy)]
struct Settings {
    tasks: u64,
    pacing: Pacing,
    watch: bool,
    timeout: Duration,
}

#[derive(Clone, Copy)]
enum Pacing {
    None,
    Rate(Duration),
    Pending(u64),
}

impl Settings {
    fn of(params: &Params) -> Self {
        let pacing = match params.text("pacing") {
            "rate" => Pacing::Rate(params.period("rate_per_s")),
            "pending" => Pacing::Pending(params.count("max_pending")),
            _ => Pacing::None,
        };
        let (tasks, watch) = (params.count("tasks"), params.flag("watch"));
        Settings { tasks, pacing, watch, timeout: params.millis("timeout_ms") }
    }
}

/// Runs the job.
pub(crate) struct Master {
    board: Arc<Board>,
    node: usize,
    knobs: Knobs<Settings>,
    marks: Marks,
    out: Outlet,
    result: Outlet,
    job: Option<Job>,
}

/// The job under way.
struct Job {
    reply: Arc<ReplyTo>,
    next: u64,
    pending: u64,
    owed: u64,
    sum: i64,
    pacer: Option<Pacer>,
    /// One bit for each task that was answered.
    answered: Vec<u64>,
}

impl Master {
    pub(crate) fn props(board: &Arc<Board>, node: usize) -> Props<Master> {
        let board = board.clone();
        Props::new(move || Master {
            knobs: Knobs::new(&board.nodes[node], Settings::of),
            marks: Marks::of(&board.plan.nodes[node].params),
            out: Outlet::new(&board, node, "out"),
            result: Outlet::new(&board, node, "result"),
            board: board.clone(),
            node,
            job: None,
        })
    }

    fn settings(&mut self) -> Settings {
        self.knobs.get(&self.board.nodes[self.node])
    }

    fn has_ended(&self) -> bool {
        let cell = &self.board.nodes[self.node];
        cell.tally(DONE) + cell.tally(ABORTED) > 0
    }

    fn begin(&mut self, cx: &mut Context<'_, Self>) {
        if self.job.is_some() || self.has_ended() {
            return;
        }
        let settings = self.settings();
        let (now, reply) = (cx.now(), ReplyTo::actor(cx.myself(), self.node));
        let pacer = match settings.pacing {
            Pacing::Rate(period) => Some(Pacer::start(Pattern::Constant(period), now, cx.rng())),
            _ => None,
        };
        let words = usize::try_from(settings.tasks.div_ceil(64)).unwrap_or(usize::MAX);
        let answered = vec![0; words];
        self.job = Some(Job { reply, next: 0, pending: 0, owed: 0, sum: 0, pacer, answered });
        if settings.watch {
            self.watch(cx);
        }
        if !settings.timeout.is_zero() {
            cx.timers().once("timeout", settings.timeout, Msg::TooLate);
        }
        self.go_on(cx);
    }

    fn watch(&mut self, cx: &mut Context<'_, Self>) {
        for routee in self.out.targets() {
            // An error means that it is this actor itself, which needs no watching.
            let _ = cx.watch(&routee.any(), |_| Msg::Gone);
        }
    }

    /// Sends what the pacing allows now, and sees to it that the rest follows.
    fn go_on(&mut self, cx: &mut Context<'_, Self>) {
        let settings = self.settings();
        let now = cx.now();
        let Some(job) = self.job.as_mut().filter(|job| job.next < settings.tasks) else { return };
        let left = settings.tasks - job.next;
        let allowed = job.allowed(settings.pacing, left, cx).min(left);
        let wait = job.pacer.as_ref().map(|pacer| pacer.wait(now));
        let sent = self.send(cx, allowed.min(BATCH));
        match (sent < allowed, wait.filter(|_| sent < left)) {
            (true, _) => cx.timers().once("next", Duration::ZERO, Msg::Tick),
            (false, Some(wait)) => cx.timers().once("next", wait, Msg::Tick),
            (false, None) => {}
        }
    }

    /// Sends `batch` tasks, and none after one that waits for room; gives how many it sent.
    fn send(&mut self, cx: &mut Context<'_, Self>, batch: u64) -> u64 {
        let Some(job) = &mut self.job else { return 0 };
        let first = job.next;
        while job.next < first + batch && !(job.next > first && cx.awaits_room()) {
            let (id, reply) = (job.next, Some(job.reply.clone()));
            job.next += 1;
            let task = Task { reply, ..Task::new(id, id as i64, cx.now()) };
            self.out.send(cx, self.marks.mark(task));
        }
        let sent = job.next - first;
        job.pending += sent;
        job.owed = job.owed.saturating_sub(sent);
        self.board.nodes[self.node].add(SENT, sent);
        sent
    }

    fn answer(&mut self, cx: &mut Context<'_, Self>, task: &Task) {
        let tasks = self.settings().tasks;
        let cell = &self.board.nodes[self.node];
        let Some(job) = &mut self.job else {
            cell.add(LATE, 1);
            return;
        };
        if !job.mark(task.id) {
            cell.add(DUPLICATES, 1);
            return;
        }
        job.pending -= 1;
        let took = nanos(cx.now() - task.made);
        cell.add(RESPONSE_TOTAL, took);
        cell.raise(RESPONSE_MAX, took);
        job.sum = job.sum.wrapping_add(task.value);
        if cell.add(ANSWERED, 1) == tasks {
            self.finish(cx);
        } else if matches!(self.settings().pacing, Pacing::Pending(_)) {
            self.go_on(cx);
        }
    }

    fn finish(&mut self, cx: &mut Context<'_, Self>) {
        let Some(job) = self.job.take() else { return };
        let cell = &self.board.nodes[self.node];
        cell.add(DONE, 1);
        cx.note("job done", cell.tally(ANSWERED));
        stop_timers(cx);
        self.result.send(cx, Task::new(0, job.sum, cx.now()));
    }

    /// Gives the job up and stops the workers; once.
    fn abort(&mut self, cx: &mut Context<'_, Self>, why: &'static str) {
        if self.has_ended() {
            return;
        }
        self.job = None;
        let cell = &self.board.nodes[self.node];
        cell.add(ABORTED, 1);
        cx.note(why, cell.tally(ANSWERED));
        stop_timers(cx);
        for routee in self.out.targets() {
            routee.stop();
        }
    }
}

fn stop_timers(cx: &mut Context<'_, Master>) {
    for key in ["next", "timeout"] {
        cx.timers().cancel(key);
    }
}

impl Job {
    fn allowed(&mut self, pacing: Pacing, left: u64, cx: &mut Context<'_, Master>) -> u64 {
        let now = cx.now();
        match (pacing, &mut self.pacer) {
            (Pacing::None, _) => left,
            (Pacing::Pending(max), _) => max.saturating_sub(self.pending),
            (Pacing::Rate(period), Some(pacer)) => {
                pacer.retune(Pattern::Constant(period), now, cx.rng());
                self.owed += pacer.take_due(now, cx.rng());
                self.owed
            }
            (Pacing::Rate(_), None) => 0,
        }
    }

    /// Notes that a task was answered; false if it had been, or was never sent.
    fn mark(&mut self, id: u64) -> bool {
        let bit = 1 << (id % 64);
        match usize::try_from(id / 64).ok().and_then(|word| self.answered.get_mut(word)) {
            Some(word) if id < self.next && *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }
}

impl Actor for Master {
    type Msg = Msg;

    fn started(&mut self, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if self.board.is_open() {
            self.begin(cx);
        }
        Ok(())
    }

    /// The books of the job are gone with the old instance.
    fn post_restart(&mut self, cx: &mut Context<'_, Self>, _why: &Failure) -> Result<(), Failure> {
        self.abort(cx, "job aborted: the master failed");
        Ok(())
    }

    fn receive(&mut self, cx: &mut Context<'_, Self>, message: Msg) -> Result<(), Failure> {
        if self.board.nodes[self.node].takes_break() {
            return Err(Failure::new("injected", "made to fail by hand"));
        }
        match message {
            Msg::Go => self.begin(cx),
            Msg::Tick | Msg::Retune => self.go_on(cx),
            Msg::Answer(task) => self.answer(cx, &task),
            Msg::Gone => self.abort(cx, "job aborted: a worker was stopped"),
            Msg::TooLate => self.abort(cx, "job aborted: the time is over"),
            _ => {}
        }
        Ok(())
    }
}
