//! What the two HTTP examples share: a server on the loopback interface, and clients that measure it.
//!
//! The server is axum on one thread of its own; it turns a request into an ask and awaits the answer, so it needs no more.
//! Each client is a thread with one connection that sends its next request when it has the answer to the last.

#![allow(dead_code, reason = "no example uses all of it")]

use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// A running server; dropping it ends it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `app` on the loopback interface; port 0 asks for a free one.
    pub(crate) fn start(app: axum::Router, port: u16) -> Result<Self, Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let body = move || {
            let stopped = async {
                // An error means that the server was dropped, which ends it as well.
                let _ = stopped.await;
            };
            let served =
                runtime.block_on(async { axum::serve(listener, app).with_graceful_shutdown(stopped).await });
            if let Err(error) = served {
                eprintln!("the server ended early: {error}");
            }
        };
        Ok(Server { address, stop: Some(stop), thread: Some(spawn(body)?) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed by then.
            let _ = thread.join();
        }
    }
}

/// Waits for Ctrl-C.
pub(crate) fn wait_for_ctrl_c() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    Ok(runtime.block_on(tokio::signal::ctrl_c())?)
}

/// What the clients measured.
pub(crate) struct Load {
    pub(crate) took: Duration,
    /// Of each answered request, shortest first.
    pub(crate) latencies: Vec<Duration>,
    /// Why the others had no good answer.
    pub(crate) errors: Vec<String>,
}

impl Load {
    pub(crate) fn mean(&self) -> Duration {
        let count = u32::try_from(self.latencies.len()).unwrap_or(u32::MAX).max(1);
        self.latencies.iter().sum::<Duration>() / count
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// Gives the latency that so many of a hundred requests kept to; of few requests the longest ones.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.latencies.len() * percent).div_ceil(100);
        self.latencies.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        write!(
            f,
            "mean {:6.1} ms   p50 {:6.1} ms   p99 {:6.1} ms   {:6.1} requests/s",
            ms(self.mean()),
            ms(self.percentile(50)),
            ms(self.percentile(99)),
            self.per_second()
        )?;
        match self.errors.first() {
            None => Ok(()),
            Some(first) => write!(f, "   {} failed, the first: {first}", self.errors.len()),
        }
    }
}

/// Has `clients` clients send `requests` requests each, to the addresses that `url` gives for client and request.
pub(crate) fn load(clients: usize, requests: usize, url: impl Fn(usize, usize) -> String + Sync) -> Load {
    let began = now();
    let client = |number: usize| {
        let agent = ureq::Agent::new_with_defaults();
        (0..requests).map(|n| timed_get(&agent, &url(number, n))).collect::<Vec<_>>()
    };
    let answers = in_threads(clients, &client);
    let took = now() - began;
    let mut load = Load { took, latencies: Vec::new(), errors: Vec::new() };
    for answer in answers {
        match answer {
            Ok(latency) => load.latencies.push(latency),
            Err(error) => load.errors.push(error),
        }
    }
    load.latencies.sort_unstable();
    load
}

fn timed_get(agent: &ureq::Agent, url: &str) -> Result<Duration, String> {
    let began = now();
    let mut response = agent.get(url).call().map_err(|error| format!("{url}: {error}"))?;
    response.body_mut().read_to_string().map_err(|error| format!("{url}: {error}"))?;
    Ok(now() - began)
}

#[expect(clippy::disallowed_methods, reason = "a client measures real time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the server has a thread beside the actors' own")]
fn spawn(body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("http".into()).spawn(body)
}

#[expect(clippy::disallowed_methods, reason = "each client is a thread")]
fn in_threads<T: Send>(clients: usize, client: &(impl Fn(usize) -> Vec<T> + Sync)) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|number| scope.spawn(move || client(number))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client does not panic")).collect()
    })
}
