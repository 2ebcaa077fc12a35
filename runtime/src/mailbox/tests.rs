//! What a mailbox promises to the cell that owns it.

use std::task::Poll;

use super::*;

type TestLanes = Lanes<u32, &'static str>;

/// Numbers from 10 on stand for what the owner has ordered.
impl Ordered for u32 {
    fn is_own(&self) -> bool {
        *self >= 10
    }
}

/// A closed-in lane with the given order.
fn arranged(settings: Mailbox, keep: Option<Keep>) -> TestLanes {
    let arrangement = Arrangement { rich: true, keep };
    TestLanes::new(settings, arrangement, &Arc::new(Budget::new(usize::MAX, 1)))
}

fn plain(settings: Mailbox, memory: usize) -> TestLanes {
    let arrangement = Arrangement { rich: false, keep: None };
    TestLanes::new(settings, arrangement, &Arc::new(Budget::new(memory, 1)))
}

fn open(settings: Mailbox) -> TestLanes {
    let lanes = plain(settings, usize::MAX);
    lanes.pause(false);
    lanes
}

fn reserve(lanes: &TestLanes, ticket: &mut Ticket, n: usize) -> Poll<Result<(), Closed>> {
    lanes.poll_reserve(ticket, Lane::Main, n, Waker::noop()).0
}

fn envelope(item: u32) -> Envelope<u32> {
    Envelope { item, id: MsgId(0), at: Instant::ZERO }
}

fn push(lanes: &TestLanes, item: u32) -> Result<bool, &'static str> {
    push_tagged(lanes, item, Tag::default())
}

fn push_tagged(lanes: &TestLanes, item: u32, tag: Tag) -> Result<bool, &'static str> {
    match lanes.push(envelope(item), tag) {
        Pushed::Accepted { wake, .. } => Ok(wake),
        Pushed::Refused { why, .. } => Err(match why {
            Why::Full => "full",
            Why::HoldFull => "hold full",
            Why::Memory => "memory",
            Why::Duplicate => "duplicate",
            Why::Closed => "closed",
        }),
    }
}

fn ranked(lanes: &TestLanes, item: u32, rank: u8) -> Result<bool, &'static str> {
    push_tagged(lanes, item, Tag { rank, ..Tag::default() })
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
    let lanes = plain(Mailbox::unbounded(), usize::MAX);
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
    assert_eq!(reserve(&lanes, &mut first, 1), Poll::Pending);
    assert_eq!(reserve(&lanes, &mut second, 1), Poll::Pending);
    lanes.take(&mut VecDeque::new());
    assert_eq!(push(&lanes, 9), Err("full"), "the room is promised");
    assert_eq!(reserve(&lanes, &mut second, 1), Poll::Pending);
    lanes.release(first);
    assert_eq!(reserve(&lanes, &mut second, 1), Poll::Ready(Ok(())));
    assert!(matches!(lanes.push_granted(second, envelope(2), Tag::default()), Pushed::Accepted { .. }));
    assert_eq!(drain(&lanes), [2]);
}

#[test]
fn closing_gives_back_what_is_queued_and_tells_waiters() {
    let lanes = open(Mailbox::bounded(1, OverflowStrategy::Backpressure));
    assert!(push(&lanes, 1).is_ok());
    let mut ticket = Ticket::default();
    assert_eq!(reserve(&lanes, &mut ticket, 1), Poll::Pending);
    assert_eq!(lanes.close().len(), 1);
    assert!(reserve(&lanes, &mut ticket, 1).is_ready());
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

#[test]
fn ranks_are_read_first_to_last_and_equals_in_order_of_arrival() {
    let lanes = arranged(Mailbox::unbounded(), None);
    for (item, rank) in [(1, 2), (2, 0), (3, 1), (4, 0), (5, 2)] {
        assert!(ranked(&lanes, item, rank).is_ok());
    }
    assert_eq!(drain(&lanes), [2, 4, 3, 1, 5]);
}

#[test]
fn what_the_owner_ordered_is_due_once_nothing_that_came_before_it_is_left() {
    let lanes = arranged(Mailbox::unbounded(), None);
    let own = |item| assert!(matches!(lanes.push_own(envelope(item)), Pushed::Accepted { .. }));
    assert!(ranked(&lanes, 1, 5).is_ok());
    own(10);
    assert!(ranked(&lanes, 2, 9).is_ok());
    own(11);
    own(12);
    for (item, rank) in [(3, 0), (4, 9)] {
        assert!(ranked(&lanes, item, rank).is_ok());
    }
    // 3 came after all three and is more urgent than what they wait for; 4 came after them and is not.
    assert_eq!(drain(&lanes), [3, 1, 10, 2, 11, 12, 4]);
}

#[test]
fn a_full_lane_with_ranks_drops_the_least_urgent() {
    for (overflow, newcomer, outcome, left) in [
        (OverflowStrategy::DropNew, (9, 3), Err("full"), vec![2, 1, 3]),
        (OverflowStrategy::DropNew, (9, 2), Err("full"), vec![2, 1, 3]),
        (OverflowStrategy::DropNew, (9, 1), Ok(false), vec![2, 9, 1]),
        (OverflowStrategy::DropOldest, (9, 3), Err("full"), vec![2, 1, 3]),
        (OverflowStrategy::DropOldest, (9, 2), Ok(false), vec![2, 3, 9]),
        (OverflowStrategy::DropOldest, (9, 1), Ok(false), vec![2, 9, 3]),
    ] {
        let lanes = arranged(Mailbox::bounded(3, overflow), None);
        for (item, rank) in [(1, 2), (2, 0), (3, 2)] {
            assert!(ranked(&lanes, item, rank).is_ok());
        }
        assert_eq!(ranked(&lanes, newcomer.0, newcomer.1), outcome, "{overflow:?} {newcomer:?}");
        assert_eq!(drain(&lanes), left, "{overflow:?} {newcomer:?}");
    }
}

#[test]
fn the_urgent_have_a_lane_with_room_of_its_own() {
    let lanes = arranged(Mailbox::bounded(1, OverflowStrategy::Backpressure), None);
    let urgent = Tag { urgent: true, ..Tag::default() };
    assert!(push(&lanes, 1).is_ok() && push_tagged(&lanes, 2, urgent).is_ok());
    assert_eq!((push(&lanes, 3), push_tagged(&lanes, 4, urgent)), (Err("full"), Err("full")));
    assert_eq!(drain(&lanes), [2, 1]);
}

#[test]
fn of_two_with_one_key_the_rule_says_which_stays() {
    for (keep, third, left) in
        [(Keep::First, Err("duplicate"), vec![1, 2, 4]), (Keep::Last, Ok(false), vec![3, 2, 4])]
    {
        let lanes = arranged(Mailbox::bounded(3, OverflowStrategy::DropNew), Some(keep));
        let keyed = |item, key| push_tagged(&lanes, item, Tag { key: Some(key), ..Tag::default() });
        assert!(keyed(1, 7).is_ok() && keyed(2, 8).is_ok());
        assert_eq!(keyed(3, 7), third, "{keep:?}");
        assert!(push(&lanes, 4).is_ok());
        assert_eq!(push(&lanes, 5), Err("full"), "the loser has no room");
        assert_eq!(drain(&lanes), left, "{keep:?}");
        assert!(keyed(6, 7).is_ok(), "the key is free again");
    }
}

#[test]
fn a_key_that_changes_its_rank_keeps_its_arrival() {
    let lanes = arranged(Mailbox::unbounded(), Some(Keep::Last));
    let push = |item, rank, key| push_tagged(&lanes, item, Tag { rank, key, urgent: false });
    assert!(push(1, 5, Some(7)).is_ok() && push(2, 1, None).is_ok() && push(3, 1, Some(7)).is_ok());
    assert_eq!(drain(&lanes), [3, 2], "it came before 2, and is as urgent now");
}

#[test]
fn m2_a_batch_that_is_given_up_half_way_gives_its_part_to_the_next() {
    let lanes = open(Mailbox::bounded(2, OverflowStrategy::Backpressure));
    assert!(push(&lanes, 1).is_ok() && push(&lanes, 2).is_ok());
    let (mut batch, mut next) = (Ticket::default(), Ticket::default());
    assert_eq!(reserve(&lanes, &mut batch, 2), Poll::Pending);
    assert_eq!(reserve(&lanes, &mut next, 1), Poll::Pending);
    drop(lanes.take(&mut VecDeque::new()));
    assert_eq!(reserve(&lanes, &mut batch, 2), Poll::Pending, "it has one of two");
    assert_eq!(reserve(&lanes, &mut next, 1), Poll::Pending, "and is first in line");
    drop(lanes.release(batch));
    assert_eq!(reserve(&lanes, &mut next, 1), Poll::Ready(Ok(())));
}

#[test]
fn memory_is_counted_where_it_is_taken_and_comes_back_after_draining() {
    let size = size_of::<Envelope<u32>>();
    let budget = Arc::new(Budget::new(16 * size, 1));
    let arrangement = Arrangement { rich: false, keep: None };
    let lanes = TestLanes::new(Mailbox::budgeted(), arrangement, &budget);
    lanes.pause(false);
    (0..16).for_each(|n| assert!(push(&lanes, n % 10).is_ok(), "{n}"));
    assert_eq!((push(&lanes, 1), budget.used()), (Err("memory"), 16 * size));
    assert!(matches!(lanes.push_own(envelope(10)), Pushed::Accepted { .. }), "ordered by the owner");
    assert_eq!(lanes.close().len(), 17);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_sender_that_waits_for_memory_is_woken_when_another_mailbox_gives_some_back() {
    struct Flag(std::sync::atomic::AtomicBool);
    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let budget = Arc::new(Budget::new(4 * size_of::<Envelope<u32>>(), 1));
    let arrangement = Arrangement { rich: false, keep: None };
    let [one, other] = [(); 2].map(|()| TestLanes::new(Mailbox::budgeted(), arrangement, &budget));
    assert!(push(&one, 1).is_ok());
    let flag = Arc::new(Flag(false.into()));
    let (mut ticket, waker) = (Ticket::default(), Waker::from(flag.clone()));
    assert_eq!(other.poll_reserve(&mut ticket, Lane::Main, 1, &waker).0, Poll::Pending);
    drop(one.close());
    assert!(flag.0.load(Ordering::SeqCst), "woken");
    assert_eq!(other.poll_reserve(&mut ticket, Lane::Main, 1, &waker).0, Poll::Ready(Ok(())));
}
