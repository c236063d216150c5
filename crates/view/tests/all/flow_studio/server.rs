//! A server that answers with transcripts and receipts, for one test and on this machine only.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// A server that lives as long as the test.
pub(super) struct Server {
    port: u16,
}

impl Server {
    /// Serves the runs below `root`.
    pub(super) fn start(root: PathBuf) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A reader that has gone is no concern of the test.
                let _ = answer(&stream, &root);
            }
        });
        Server { port }
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn answer(mut stream: &TcpStream, root: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let file = request.split(' ').nth(1).and_then(path_of).map(|path| root.join(path));
    let (status, body) = match file.and_then(|file| std::fs::read(file).ok()) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

/// Returns the file that a path of the interface names.
fn path_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.strip_prefix("/api/runs/")?.split('/').collect();
    match parts.as_slice() {
        [run, "transcript", flow, step, agent, engine] => {
            Some(format!("{run}/{flow}/llm/{step}-{agent}-{engine}.jsonl"))
        }
        [run, "receipt", flow, step, agent] => {
            Some(format!("{run}/{flow}/receipts/{step}-{agent}.json"))
        }
        _ => None,
    }
}
