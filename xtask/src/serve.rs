//! A small static file server for `dist/`: it answers GET and HEAD with the right types, and nothing else.
//!
//! It is for a person who tries the page on her own machine, not for the open net: one thread per connection, at most
//! [`CONNECTIONS_MAX`] at a time, one answer per connection, no caching so that a rebuilt page is seen at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections that are answered at the same time; more are closed at once.
const CONNECTIONS_MAX: usize = 64;
/// Bytes of a request's head; a longer one is refused.
const HEAD_BYTES_MAX: u64 = 16 * 1024;
/// How long a silent browser may keep a connection.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Serves `folder` until the process ends.
pub(crate) fn serve(listener: &TcpListener, folder: &Path) {
    let folder: Arc<Path> = folder.into();
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        // Ordering: Relaxed, a count that guards no other memory.
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (folder, open) = (folder.clone(), open.clone());
        std::thread::spawn(move || {
            // A browser that went away in the middle of an answer is no event.
            let _ = answer(stream, &folder);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, folder: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    stream.set_write_timeout(Some(SILENCE_MAX))?;
    let head = read_head(&stream)?;
    let mut words = head.split_ascii_whitespace();
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if method != "GET" && method != "HEAD" {
        return refuse(&mut stream, "405 Method Not Allowed");
    }
    let Some(path) = locate(folder, target) else {
        return refuse(&mut stream, "404 Not Found");
    };
    let Ok(mut file) = File::open(&path) else {
        return refuse(&mut stream, "404 Not Found");
    };
    let length = file.metadata()?.len();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {length}\r\n", media_type(&path))?;
    stream.write_all(
        b"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
    )?;
    if method == "GET" {
        io::copy(&mut file, &mut stream)?;
    }
    stream.flush()
}

/// Reads up to the empty line that ends the head, and hands back its first line.
fn read_head(stream: &TcpStream) -> io::Result<String> {
    let mut reader = BufReader::new(stream.take(HEAD_BYTES_MAX));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    Ok(first)
}

fn refuse(stream: &mut TcpStream, status: &str) -> io::Result<()> {
    let length = status.len() + 1;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n")?;
    write!(stream, "Connection: close\r\n\r\n{status}\n")
}

/// Finds the file under `folder` that a request's target names; `None` where there is none, or outside of the folder.
fn locate(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let path = PathBuf::from(decode(path)?);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let file = folder.join(path);
    let file = if file.is_dir() { file.join("index.html") } else { file };
    file.is_file().then_some(file)
}

/// Undoes a URL's percent signs.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder with a page and a module, serves it, sends `request` and hands back the answer.
    fn check(name: &str, request: &str) -> String {
        let folder = std::env::temp_dir().join(format!("footlights-serve-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("index.html"), "<p>page</p>").unwrap();
        std::fs::write(folder.join("a b.wasm"), [0, 1, 2]).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served: PathBuf = folder.clone();
        let server = std::thread::spawn(move || answer(listener.accept().unwrap().0, &served).unwrap());
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        server.join().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn a_folder_answers_with_its_page() {
        let answer = check("page", "GET /?v=1");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"),
            "{answer}"
        );
        assert!(answer.ends_with("\r\n\r\n<p>page</p>"), "{answer}");
    }

    #[test]
    fn a_module_has_the_type_that_streaming_compilation_needs() {
        let answer = check("module", "HEAD /a%20b.wasm");
        assert!(answer.contains("Content-Type: application/wasm\r\nContent-Length: 3\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "a HEAD answer has no body: {answer}");
    }

    #[test]
    fn what_is_not_there_or_outside_is_not_found() {
        for (name, target) in
            [("none", "/x.js"), ("up", "/../Cargo.toml"), ("coded", "/%2e%2e/Cargo.toml"), ("bad", "/%zz")]
        {
            let answer = check(name, &format!("GET {target}"));
            assert!(answer.starts_with("HTTP/1.1 404 Not Found\r\n"), "{target}: {answer}");
        }
        assert!(check("post", "POST /").starts_with("HTTP/1.1 405 "));
    }
}
