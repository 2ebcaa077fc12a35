//! `single`, `empty`, `from_option`, `failed`, `never`: one element, none, an error, silence.
//!
//! `single` emits on demand and completes with it; `empty` completes at once; `failed` fails at once; `never` neither emits
//! nor ends before it is stopped or cancelled. Backpressure: they are pulled. Cancel: nothing is left to do.

use std::marker::PhantomData;

use crate::stream::kernel::{Caps, Cx, Kernel, Never as Nothing, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of `single`, `empty` and `from_option`.
pub struct Single<A>(Option<A>);

impl<A> Single<A> {
    /// Makes the kernel.
    pub fn new(x: Option<A>) -> Self {
        Single(x)
    }
}

impl<A: Send + 'static> Kernel for Single<A> {
    type In = Nothing;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT_SOURCE;

    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        if self.0.is_some() { Sig::Continue } else { Sig::Done }
    }

    fn on_push(&mut self, x: Nothing, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, out: &mut Out<'_, A>, cx: &mut Cx) -> Sig {
        if out.demand() == 0 {
            return Sig::Continue;
        }
        if let Some(x) = self.0.take() {
            cx.made(1);
            out.emit(x);
        }
        Sig::Done
    }
}

/// The kernel of `failed` and of `never`.
pub struct Mute<A>(Option<StreamError>, PhantomData<fn(A)>);

impl<A> Mute<A> {
    /// Makes the kernel: it fails with the error, or says nothing ever.
    pub fn new(error: Option<StreamError>) -> Self {
        Mute(error, PhantomData)
    }
}

impl<A: Send + 'static> Kernel for Mute<A> {
    type In = Nothing;
    type Out = A;
    const CAPS: Caps = Caps::LIGHT_SOURCE;

    fn on_start(&mut self, _cx: &mut Cx) -> Sig {
        self.0.take().map_or(Sig::Continue, Sig::fail)
    }

    fn on_push(&mut self, x: Nothing, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        match x {}
    }

    fn on_pull(&mut self, _out: &mut Out<'_, A>, _cx: &mut Cx) -> Sig {
        Sig::Continue
    }
}
