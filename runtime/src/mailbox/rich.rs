//! The queue of a mailbox with an order of its own: ranks, a control lane, and keys that may be queued once.
//!
//! ```text
//!   control  ▷▷▷                    read first, in the order of arrival
//!   own      ▷▷                     each is due when nothing that arrived before it is left
//!   ranks    0 ▷▷▷▷  1 ▷▷  7 ▷▷▷    then the lowest rank, in the order of arrival
//! ```
//! I1 within a rank, and within the control lane, arrival numbers rise from front to back.
//! I2 `before` of an own item counts the queued messages of the main lane that arrived between it and the own item before it;
//!    `since` counts those behind the last own item. So the first own item is due exactly when its `before` is 0.
//! I3 `keys` names exactly the queued messages that have a key.
//! It knows no capacity: whoever pushes has looked for room.

use std::collections::{BTreeMap, VecDeque};

use super::Envelope;
use super::order::{Keep, Lane, Tag};
use super::reserve::Reservations;
use crate::id::MsgId;
use crate::time::Instant;

/// The first arrival number; those that are put back count down from it.
const FIRST: u64 = 1 << 62;

/// Messages of the control lane where the main lane has no bound that is a number.
const CONTROL_MAX: usize = 1_000;

pub(super) struct Rich<T> {
    control: VecDeque<Entry<T>>,
    ranks: BTreeMap<u8, VecDeque<Entry<T>>>,
    own: VecDeque<Own<T>>,
    keys: BTreeMap<(Lane, u64), Place>,
    keep: Option<Keep>,
    /// Messages in `ranks`.
    main: usize,
    since: usize,
    arrived: u64,
    /// The number below which nothing is queued.
    returned: u64,
    /// Messages that have been paid for, where there is a budget.
    pub(super) room: usize,
    pub(super) control_capacity: usize,
    pub(super) waiting: Reservations<T>,
}

struct Entry<T> {
    seq: u64,
    tag: Tag,
    envelope: Envelope<T>,
}

struct Own<T> {
    seq: u64,
    before: usize,
    envelope: Envelope<T>,
}

/// Where a message with a key is queued.
#[derive(Clone, Copy)]
struct Place {
    rank: u8,
    seq: u64,
}

/// What became of a message that may have an equal in the queue.
pub(super) enum Twin<T> {
    /// There is none: it is to be pushed.
    None(Envelope<T>),
    /// The queued one stays.
    Refused(Envelope<T>),
    /// The new one has its place.
    Replaced(Envelope<T>),
}

impl<T> Rich<T> {
    pub(super) fn new(capacity: Option<usize>, keep: Option<Keep>) -> Self {
        Rich {
            control: VecDeque::new(),
            ranks: BTreeMap::new(),
            own: VecDeque::new(),
            keys: BTreeMap::new(),
            keep,
            main: 0,
            since: 0,
            arrived: FIRST,
            returned: FIRST,
            room: 0,
            control_capacity: capacity.unwrap_or(CONTROL_MAX),
            waiting: Reservations::default(),
        }
    }

    /// Counts everything that is queued.
    pub(super) fn len(&self) -> usize {
        self.main + self.own.len() + self.control.len()
    }

    /// Counts the messages of one lane that need room in it.
    pub(super) fn queued(&self, lane: Lane) -> usize {
        match lane {
            Lane::Main => self.main,
            Lane::Control => self.control.len(),
        }
    }

    /// Gives the stamp of the oldest.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let fronts = self.ranks.values().chain([&self.control]).filter_map(VecDeque::front);
        let own = self.own.front().map(|own| own.envelope.at);
        fronts.map(|entry| entry.envelope.at).chain(own).min()
    }

    /// Puts a message at the end of its rank or lane.
    pub(super) fn push(&mut self, envelope: Envelope<T>, tag: Tag) {
        self.arrived += 1;
        let seq = self.arrived;
        if let Some(key) = tag.key.filter(|_| self.keep.is_some()) {
            self.keys.insert((tag.lane(), key), Place { rank: tag.rank, seq });
        }
        let entry = Entry { seq, tag, envelope };
        match tag.lane() {
            Lane::Control => self.control.push_back(entry),
            Lane::Main => {
                self.main += 1;
                self.since += 1;
                self.ranks.entry(tag.rank).or_default().push_back(entry);
            }
        }
    }

    /// Puts in something that the owner has ordered.
    pub(super) fn push_own(&mut self, envelope: Envelope<T>) {
        self.arrived += 1;
        let before = std::mem::take(&mut self.since);
        self.own.push_back(Own { seq: self.arrived, before, envelope });
    }

    /// Puts a message that was taken out back to the front of its rank or lane: it came before all that is there. It has no
    /// key any more.
    pub(super) fn put_back(&mut self, envelope: Envelope<T>, tag: Tag) {
        self.returned -= 1;
        let entry = Entry { seq: self.returned, tag: Tag { key: None, ..tag }, envelope };
        match tag.lane() {
            Lane::Control => self.control.push_front(entry),
            Lane::Main => {
                self.main += 1;
                match self.own.front_mut() {
                    Some(own) => own.before += 1,
                    None => self.since += 1,
                }
                self.ranks.entry(tag.rank).or_default().push_front(entry);
            }
        }
    }

    /// Puts something that the owner has ordered, and that was taken out, back to the front.
    pub(super) fn put_back_own(&mut self, envelope: Envelope<T>) {
        self.returned -= 1;
        self.own.push_front(Own { seq: self.returned, before: 0, envelope });
    }

    /// Takes the next one.
    pub(super) fn pop(&mut self) -> Option<Envelope<T>> {
        if let Some(entry) = self.control.pop_front() {
            self.forget_key(&entry);
            return Some(entry.envelope);
        }
        if self.own.front().is_some_and(|own| own.before == 0) {
            return self.own.pop_front().map(|own| own.envelope);
        }
        let rank = *self.ranks.first_key_value()?.0;
        self.take_from(rank, VecDeque::pop_front)
    }

    /// Takes the oldest or the youngest of the least urgent of a lane, if that is no more urgent than `tag`; of equals the
    /// newcomer is the youngest.
    pub(super) fn evict(&mut self, tag: Tag, oldest: bool) -> Option<Envelope<T>> {
        match tag.lane() {
            Lane::Control if oldest => {
                let entry = self.control.pop_front()?;
                self.forget_key(&entry);
                Some(entry.envelope)
            }
            Lane::Control => None,
            Lane::Main => {
                let worst = *self.ranks.last_key_value()?.0;
                match oldest {
                    true if worst >= tag.rank => self.take_from(worst, VecDeque::pop_front),
                    false if worst > tag.rank => self.take_from(worst, VecDeque::pop_back),
                    _ => None,
                }
            }
        }
    }

    /// Looks for a queued message with the same key, and lets the rule decide between the two.
    pub(super) fn meet_twin(&mut self, envelope: Envelope<T>, tag: Tag) -> Twin<T> {
        let place = tag.key.and_then(|key| self.keys.get(&(tag.lane(), key)).copied());
        match (self.keep, place) {
            (Some(Keep::First), Some(_)) => Twin::Refused(envelope),
            (Some(Keep::Last), Some(place)) => Twin::Replaced(self.replace(place, envelope, tag)),
            _ => Twin::None(envelope),
        }
    }

    /// Puts a message into the place of another, with the arrival number of that one, and gives the old one.
    fn replace(&mut self, place: Place, envelope: Envelope<T>, tag: Tag) -> Envelope<T> {
        let new = Entry { seq: place.seq, tag, envelope };
        if let Some(key) = tag.key {
            self.keys.insert((tag.lane(), key), Place { rank: tag.rank, seq: place.seq });
        }
        let queue = match tag.lane() {
            Lane::Control => &mut self.control,
            Lane::Main => self.ranks.get_mut(&place.rank).expect("I3: the key's rank is queued"),
        };
        let at = queue
            .binary_search_by_key(&place.seq, |entry| entry.seq)
            .expect("I3: the key's message is queued");
        if tag.lane() == Lane::Control || tag.rank == place.rank {
            return std::mem::replace(&mut queue[at], new).envelope;
        }
        let old = queue.remove(at).expect("found above").envelope;
        if queue.is_empty() {
            self.ranks.remove(&place.rank);
        }
        let queue = self.ranks.entry(tag.rank).or_default();
        let at = queue.partition_point(|entry| entry.seq < place.seq);
        queue.insert(at, new);
        old
    }

    fn take_from(
        &mut self,
        rank: u8,
        take: impl FnOnce(&mut VecDeque<Entry<T>>) -> Option<Entry<T>>,
    ) -> Option<Envelope<T>> {
        let queue = self.ranks.get_mut(&rank)?;
        let entry = take(queue)?;
        if queue.is_empty() {
            self.ranks.remove(&rank);
        }
        self.main -= 1;
        let behind = self.own.partition_point(|own| own.seq < entry.seq);
        match self.own.get_mut(behind) {
            Some(own) => own.before -= 1,
            None => self.since -= 1,
        }
        self.forget_key(&entry);
        Some(entry.envelope)
    }

    /// Looks at all: the urgent, then the messages by rank, then what the owner has ordered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Envelope<T>> {
        let messages = [&self.control].into_iter().chain(self.ranks.values()).flatten();
        messages.map(|entry| &entry.envelope).chain(self.own.iter().map(|own| &own.envelope))
    }

    /// Takes one out of turn.
    pub(super) fn pick(&mut self, id: MsgId) -> Option<Envelope<T>> {
        let is_it = |entry: &Entry<T>| entry.envelope.id == id;
        if let Some(at) = self.control.iter().position(is_it) {
            let entry = self.control.remove(at)?;
            self.forget_key(&entry);
            return Some(entry.envelope);
        }
        if let Some(at) = self.own.iter().position(|own| own.envelope.id == id) {
            let own = self.own.remove(at)?;
            match self.own.get_mut(at) {
                Some(next) => next.before += own.before,
                None => self.since += own.before,
            }
            return Some(own.envelope);
        }
        let rank = *self.ranks.iter().find(|(_, queue)| queue.iter().any(is_it))?.0;
        self.take_from(rank, |queue| {
            let at = queue.iter().position(is_it)?;
            queue.remove(at)
        })
    }

    fn forget_key(&mut self, entry: &Entry<T>) {
        if let Some(key) = entry.tag.key {
            self.keys.remove(&(entry.tag.lane(), key));
        }
    }

    /// Takes all messages, in the order in which they would have been read; what the owner has ordered stays if `keep_own`.
    pub(super) fn drain(&mut self, keep_own: bool) -> VecDeque<Envelope<T>> {
        if keep_own {
            let own = std::mem::take(&mut self.own);
            self.since = self.main;
            let all = self.drain(false);
            self.own = own.into_iter().map(|own| Own { before: 0, ..own }).collect();
            return all;
        }
        std::iter::from_fn(|| self.pop()).collect()
    }
}

impl<T> std::fmt::Debug for Twin<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Twin::None(_) => "None",
            Twin::Refused(_) => "Refused",
            Twin::Replaced(_) => "Replaced",
        })
    }
}
