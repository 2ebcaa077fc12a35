//! What a mailbox promises to the cell that owns it.

use std::task::{Poll, Waker};

use super::*;

type TestLanes = Lanes<u32, &'static str>;

/// Numbers from 10 on stand for what the owner has ordered.
impl Ordered for u32 {
    fn is_own(&self) -> bool {
        *self >= 10
    }
}

fn open(settings: Mailbox) -> TestLanes {
    let lanes = TestLanes::new(settings);
    lanes.pause(false);
    lanes
}

fn envelope(item: u32) -> Envelope<u32> {
    Envelope { item, id: MsgId(0), at: Instant::ZERO }
}

fn push(lanes: &TestLanes, item: u32) -> Result<bool, &'static str> {
    match lanes.push(envelope(item)) {
        Pushed::Accepted { wake, .. } => Ok(wake),
        Pushed::Full(_) => Err("full"),
        Pushed::HoldFull(_) => Err("hold full"),
        Pushed::Closed(_) => Err("closed"),
    }
}

fn drain(lanes: &TestLanes) -> Vec<u32> {
    let mut all = Vec::new();
    let mut batch = VecDeque::new();
    while lanes.len() > 0 {
        lanes.take(&mut batch);
        all.extend(batch.drain(..).map(|envelope| envelope.item));
    }
    all
}

#[test]
fn only_the_first_push_wakes_until_finished() {
    let lanes = open(Mailbox::unbounded());
    assert_eq!(push(&lanes, 1), Ok(true));
    assert_eq!(push(&lanes, 2), Ok(false));
    assert_eq!(lanes.signal("stop"), Ok(false));
    assert_eq!(lanes.next_signal(), Some("stop"));
    assert_eq!(drain(&lanes), [1, 2]);
    assert!(!lanes.finish(false), "nothing left: idle");
    assert_eq!(push(&lanes, 3), Ok(true));
    assert!(lanes.finish(false), "a message came: stays scheduled");
}

#[test]
fn a_paused_lane_takes_messages_but_only_signals_wake() {
    let lanes = TestLanes::new(Mailbox::unbounded());
    assert_eq!(push(&lanes, 1), Ok(false));
    assert_eq!(lanes.signal("start"), Ok(true));
    lanes.pause(false);
    assert_eq!(lanes.next_signal(), Some("start"));
    assert!(lanes.finish(false), "the message is readable now");
}

#[test]
fn overflow_policies_do_what_they_say() {
    for (overflow, third, left) in [
        (OverflowStrategy::DropNew, Err("full"), vec![1, 2]),
        (OverflowStrategy::DropOldest, Ok(false), vec![2, 3]),
        (OverflowStrategy::RejectToSender, Err("full"), vec![1, 2]),
        (OverflowStrategy::Backpressure, Err("full"), vec![1, 2]),
    ] {
        let lanes = open(Mailbox::bounded(2, overflow));
        (1..=2).for_each(|item| assert!(push(&lanes, item).is_ok()));
        assert_eq!(push(&lanes, 3), third, "{overflow:?}");
        assert_eq!(drain(&lanes), left, "{overflow:?}");
    }
}

#[test]
fn freed_room_goes_to_the_first_waiter_and_a_dropped_grant_to_the_next() {
    let lanes = open(Mailbox::bounded(1, OverflowStrategy::Backpressure));
    assert!(push(&lanes, 1).is_ok());
    let (mut first, mut second) = (Ticket::default(), Ticket::default());
    assert_eq!(lanes.poll_reserve(&mut first, Waker::noop()), Poll::Pending);
    assert_eq!(lanes.poll_reserve(&mut second, Waker::noop()), Poll::Pending);
    lanes.take(&mut VecDeque::new());
    assert_eq!(push(&lanes, 9), Err("full"), "the room is promised");
    assert_eq!(lanes.poll_reserve(&mut second, Waker::noop()), Poll::Pending);
    lanes.release(first);
    assert_eq!(lanes.poll_reserve(&mut second, Waker::noop()), Poll::Ready(Ok(())));
    assert!(matches!(lanes.push_granted(second, envelope(2)), Pushed::Accepted { .. }));
    assert_eq!(drain(&lanes), [2]);
}

#[test]
fn closing_gives_back_what_is_queued_and_tells_waiters() {
    let lanes = open(Mailbox::bounded(1, OverflowStrategy::Backpressure));
    assert!(push(&lanes, 1).is_ok());
    let mut ticket = Ticket::default();
    assert_eq!(lanes.poll_reserve(&mut ticket, Waker::noop()), Poll::Pending);
    assert_eq!(lanes.close().len(), 1);
    assert!(lanes.poll_reserve(&mut ticket, Waker::noop()).is_ready());
    assert_eq!(push(&lanes, 2), Err("closed"));
}

#[test]
fn a_hold_lets_in_so_many_and_no_more() {
    let lanes = open(Mailbox::unbounded());
    lanes.hold(Some(2));
    assert!(push(&lanes, 1).is_ok() && push(&lanes, 2).is_ok());
    assert_eq!(push(&lanes, 3), Err("hold full"));
    lanes.hold(None);
    assert!(push(&lanes, 4).is_ok());
}

#[test]
fn what_the_owner_ordered_is_beside_the_bound_and_is_never_evicted() {
    let lanes = open(Mailbox::bounded(1, OverflowStrategy::DropOldest));
    assert!(matches!(lanes.push_own(envelope(10)), Pushed::Accepted { .. }));
    assert!(push(&lanes, 1).is_ok() && push(&lanes, 2).is_ok());
    assert_eq!(drain(&lanes), [10, 2]);
}
