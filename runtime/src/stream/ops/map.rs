//! `map`: `f` of each element. std. `try_map` fails the stage where `f` fails; `map_cx` may charge work.

use crate::stream::kernel::{Caps, Cx, Kernel, Out, Sig};
use crate::stream::signal::StreamError;

/// The kernel of `map`.
pub struct Map<A, F>(F, std::marker::PhantomData<fn(A)>);

impl<A, F> Map<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        Map(f, std::marker::PhantomData)
    }
}

impl<A, B, F> Kernel for Map<A, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(A) -> B + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps::LIGHT;

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, _cx: &mut Cx) -> Sig {
        out.emit((self.0)(x));
        Sig::Continue
    }
}

/// The kernel of `try_map`.
pub struct TryMap<A, F>(F, std::marker::PhantomData<fn(A)>);

impl<A, F> TryMap<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        TryMap(f, std::marker::PhantomData)
    }
}

impl<A, B, E, F> Kernel for TryMap<A, F>
where
    A: Send + 'static,
    B: Send + 'static,
    E: std::fmt::Display,
    F: FnMut(A) -> Result<B, E> + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps { chunk: false, ..Caps::LIGHT };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        match (self.0)(x) {
            Ok(y) => {
                out.emit(y);
                Sig::Continue
            }
            Err(e) => {
                cx.used(1);
                Sig::fail(StreamError::Stage { node: cx.node(), text: e.to_string().into() })
            }
        }
    }
}

/// The kernel of `map_cx`.
pub struct MapCx<A, F>(F, std::marker::PhantomData<fn(A)>);

impl<A, F> MapCx<A, F> {
    /// Makes the kernel.
    pub fn new(f: F) -> Self {
        MapCx(f, std::marker::PhantomData)
    }
}

impl<A, B, F> Kernel for MapCx<A, F>
where
    A: Send + 'static,
    B: Send + 'static,
    F: FnMut(&mut Cx, A) -> B + Send + 'static,
{
    type In = A;
    type Out = B;
    const CAPS: Caps = Caps { pulls: false, ..Caps::TIMED };

    #[inline]
    fn on_push(&mut self, x: A, out: &mut Out<'_, B>, cx: &mut Cx) -> Sig {
        let y = (self.0)(cx, x);
        out.emit(y);
        Sig::Continue
    }
}
