//! `cargo xtask play`: builds the playground, serves it on this machine and opens it.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, ExitCode, Stdio};

use crate::args::{self, Given, Opt};
use crate::build_page::{self, Weight};
use crate::error::{Error, Result};
use crate::serve;
use crate::workspace::Workspace;

/// The text of `cargo xtask help play`.
pub(crate) const USAGE: &str = "\
Builds the playground in release, serves it on this machine and opens it in the browser.

Usage: cargo xtask play [--port N] [--no-open] [--host ADDRESS --expose]

Options:
  --port N         Serve on port N (default 8080; 0 takes any free one)
  --no-open        Print the address and open no browser
  --host ADDRESS   Serve on this IP address (default 127.0.0.1); anything but loopback needs --expose
  --expose         Yes, let other machines reach the page through --host

Stop it with Ctrl-C. Installs the wasm target, wasm-bindgen-cli and Trunk first where they are missing.
";

const OPTIONS: [Opt; 4] = [
    Opt { name: "--port", value: Some("N") },
    Opt { name: "--no-open", value: None },
    Opt { name: "--host", value: Some("ADDRESS") },
    Opt { name: "--expose", value: None },
];

const DEFAULT_PORT: u16 = 8080;

/// Runs the command.
pub(crate) fn run(argv: &[String]) -> Result<ExitCode> {
    let given = args::parse("play", &OPTIONS, argv)?;
    // The port is taken before the build, so that nobody waits two minutes to hear that it is not free.
    let listener = listen(address(&given)?)?;
    let dist = build_page::build(&Workspace::find()?, Weight::AsCompiled)?;
    let url = url(&listener)?;
    println!("\nFootlights plays at {url}   (stop with Ctrl-C)");
    if !given.has("--no-open") {
        open_browser(&url);
    }
    serve::serve(&listener, &dist);
    Ok(ExitCode::SUCCESS)
}

/// Reads where to serve; an address that other machines can reach must have been meant.
fn address(given: &Given) -> Result<SocketAddr> {
    let port = match given.value("--port") {
        None => DEFAULT_PORT,
        Some(text) => text
            .parse()
            .map_err(|_| Error::new(format!("--port {text}: a port is a whole number from 0 to 65535")))?,
    };
    let host = match given.value("--host") {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some("localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some(text) => text.parse().map_err(|_| {
            Error::new(format!(
                "--host {text}: not an IP address; one looks like 127.0.0.1, or ::1, or 0.0.0.0 for all"
            ))
        })?,
    };
    match (host.is_loopback(), given.has("--expose")) {
        (false, false) => Err(Error::new(format!(
            "--host {host} would let other machines reach the page; add --expose if that is meant"
        ))),
        (true, true) => Err(Error::new(format!(
            "--expose does nothing with {host}, which only this machine reaches; give --host too"
        ))),
        _ => Ok(SocketAddr::new(host, port)),
    }
}

/// Takes the port.
fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|cause| match cause.kind() {
        ErrorKind::AddrInUse => Error::new(format!("port {} on {} is taken", address.port(), address.ip()))
            .mend(format!(
                "cargo xtask play --port {}   (or --port 0 for any free one)",
                another_port(address.port())
            )),
        _ => Error::new(format!("cannot serve on {address}: {cause}")),
    })
}

fn another_port(taken: u16) -> u16 {
    taken.checked_add(1).unwrap_or(DEFAULT_PORT)
}

/// The address to type into a browser.
fn url(listener: &TcpListener) -> Result<String> {
    let address =
        listener.local_addr().map_err(|cause| Error::new(format!("the server has no address: {cause}")))?;
    let local =
        if address.ip().is_unspecified() { (Ipv4Addr::LOCALHOST, address.port()).into() } else { address };
    Ok(format!("http://{local}/"))
}

/// Asks the desktop to open the page; where there is none, the printed address has to do.
fn open_browser(url: &str) {
    let (program, args): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[url]),
        "windows" => ("cmd", &["/C", "start", "", url]),
        _ => ("xdg-open", &[url]),
    };
    let has_screen = std::env::consts::OS != "linux"
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opened = has_screen
        && Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok();
    if !opened {
        println!("No browser could be opened from here: open the address by hand.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argv: &[&str]) -> std::result::Result<String, String> {
        let argv: Vec<String> = argv.iter().map(|arg| (*arg).to_owned()).collect();
        let given = args::parse("play", &OPTIONS, &argv).map_err(|error| error.to_string())?;
        address(&given).map(|address| address.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_page_is_served_on_loopback_unless_meant_otherwise() {
        assert_eq!(check(&[]).unwrap(), "127.0.0.1:8080");
        assert_eq!(check(&["--host=localhost", "--port", "0"]).unwrap(), "127.0.0.1:0");
        assert!(check(&["--host", "0.0.0.0"]).unwrap_err().contains("add --expose"));
        assert_eq!(check(&["--host", "0.0.0.0", "--expose"]).unwrap(), "0.0.0.0:8080");
        assert!(check(&["--expose"]).unwrap_err().contains("give --host too"));
    }

    #[test]
    fn bad_ports_and_hosts_are_named() {
        assert!(check(&["--port", "99999"]).unwrap_err().starts_with("--port 99999: a port is"));
        assert!(check(&["--host", "here"]).unwrap_err().starts_with("--host here: not an IP address"));
    }

    #[test]
    fn a_taken_port_is_answered_with_another() {
        let first = listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let error = listen(first.local_addr().unwrap()).unwrap_err().to_string();
        assert!(error.contains("is taken") && error.contains("--port 0"), "{error}");
    }
}
