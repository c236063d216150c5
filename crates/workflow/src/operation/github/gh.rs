//! Requests to GitHub through `gh api`, GitHub's own command line, with its own login.
//!
//! What a step says is sent as JSON on standard input and never stands in a command line; no shell has a
//! part in it. What comes back is the same as over REST, so that operations need not know the difference.

use std::ffi::OsString;
use std::path::PathBuf;

use reqwest::{Method, StatusCode};
use serde_json::{Map, json};
use tokio::io::AsyncRead;

use super::super::OperationSettings;
use super::super::exchange::{Answer, BODY_LIMIT};
use crate::language::Value;
use crate::process::{Exit, Pipe, Spawn, Stdin, StopSignal};

/// How much of what `gh` complains about is kept.
const STDERR_LIMIT: usize = 64 * 1024;

/// The exit code of `gh` when it needs somebody to log in.
const NOT_LOGGED_IN: i64 = 4;

/// Where `gh` goes when nobody tells it where.
const ITS_OWN: &str = "github.com";

/// What the hosts of GitHub's own tenants end with.
const TENANTS: &str = ".ghe.com";

/// The headers of every request.
pub(super) const HEADERS: [(&str, &str); 2] =
    [("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")];

/// GitHub's command line.
#[derive(Clone)]
pub(super) struct Gh {
    program: PathBuf,
    host: String,
    /// A token for the host; its own login counts if there is none.
    token: Option<String>,
    dir: PathBuf,
    stop: StopSignal,
}

impl Gh {
    /// Returns the command line, if there is one and it can reach what the settings name.
    pub(super) fn new(settings: &OperationSettings, stop: &StopSignal) -> Option<Gh> {
        let (program, host) = (settings.github_cli.clone()?, hostname(&settings.github_api)?);
        let (token, dir) = (settings.github_token.clone(), settings.working_dir.clone());
        Some(Gh { program, host, token, dir, stop: stop.clone() })
    }

    /// Tells whether it was to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Asks and returns whatever the answer is; why there is none, if there is none.
    pub(super) async fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, String> {
        if self.is_stopped() {
            return Err("canceled".to_owned());
        }
        let spawn = self.spawn(method, path, body);
        let mut running = spawn.start().await.map_err(|error| error.to_string())?;
        let (stdout, stderr) = (running.take_stdout(), running.take_stderr());
        let (told, complaint, exit) = tokio::join!(
            read(stdout, BODY_LIMIT),
            read(stderr, STDERR_LIMIT),
            running.wait_or_stop(self.stop.clone()),
        );
        let exit = exit.map_err(|error| format!("gh is lost: {error}"))?;
        let answered = answer(exit, told, &complaint.text());
        answered.ok_or_else(|| self.failure(exit, &complaint.text()))
    }

    fn spawn(&self, method: &Method, path: &str, body: Option<&Value>) -> Spawn {
        let mut args: Vec<OsString> =
            vec!["api".into(), path.into(), "--method".into(), method.as_str().into()];
        for (name, value) in HEADERS {
            args.extend(["--header".into(), format!("{name}: {value}").into()]);
        }
        if self.host != ITS_OWN {
            args.extend(["--hostname".into(), self.host.clone().into()]);
        }
        if body.is_some() {
            args.extend(["--input".into(), "-".into()]);
        }
        let quiet = ["NO_COLOR", "GH_PROMPT_DISABLED", "GH_NO_UPDATE_NOTIFIER"];
        // These make it write colours into its answer, and requests with their token beside it.
        let loud = ["CLICOLOR_FORCE", "GH_FORCE_TTY", "GH_DEBUG", "DEBUG"];
        Spawn {
            args,
            env: quiet
                .map(|name| (name, "1"))
                .into_iter()
                .chain(self.credential())
                .map(owned)
                .collect(),
            hidden: loud.map(OsString::from).to_vec(),
            dir: Some(self.dir.clone()),
            stdin: body.map_or(Stdin::Nothing, |body| Stdin::Text(body.to_string().into_bytes())),
            ..Spawn::new(&self.program)
        }
    }

    /// Returns the variable that it takes a token for the host from, unless it has been told of another.
    fn credential(&self) -> Option<(&'static str, &str)> {
        let name = match self.host == ITS_OWN || self.host.ends_with(TENANTS) {
            true => "GITHUB_TOKEN",
            false => "GITHUB_ENTERPRISE_TOKEN",
        };
        Some((name, self.token.as_deref()?))
    }

    fn failure(&self, exit: Exit, complaint: &str) -> String {
        if exit.stopped().is_some() {
            return "canceled".to_owned();
        }
        if exit.code() == NOT_LOGGED_IN || complaint.contains("gh auth login") {
            let host = match self.host.as_str() {
                ITS_OWN => String::new(),
                other => format!(" --hostname {other}"),
            };
            return format!("gh is not logged in: run `gh auth login{host}`, or set GH_TOKEN");
        }
        let how = exit.trouble().unwrap_or_default();
        let complaint = complaint.strip_prefix("gh: ").unwrap_or(complaint);
        match complaint.is_empty() {
            true => format!("gh failed: {how}"),
            false => format!("gh failed: {how}: {complaint}"),
        }
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Returns the host that `gh` knows an API's address by; none if it cannot be told to go there.
pub(super) fn hostname(api: &str) -> Option<String> {
    let address = api.trim_end_matches('/').strip_prefix("https://")?;
    let host = match address.strip_suffix("/api/v3") {
        Some(enterprise) => enterprise,
        None => address
            .strip_prefix("api.")
            .filter(|host| *host == ITS_OWN || host.ends_with(TENANTS))?,
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    let fits = host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.bytes().all(is_plain);
    fits.then(|| host.to_owned())
}

/// What a program wrote, as much as is kept of it.
#[derive(Default)]
struct Told {
    bytes: Vec<u8>,
    truncated: bool,
}

impl Told {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim().to_owned()
    }
}

async fn read<R: AsyncRead + Unpin>(pipe: Option<Pipe<R>>, limit: usize) -> Told {
    let (mut told, mut buffer) = (Told::default(), vec![0; 16 * 1024]);
    let Some(mut pipe) = pipe else { return told };
    // What cannot be read is missing in the answer, and is told as such there.
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let kept = count.min(limit - told.bytes.len());
        told.bytes.extend_from_slice(&buffer[..kept]);
        told.truncated |= kept < count;
    }
    told
}

/// Makes of what `gh` left what GitHub answered; nothing if it did not.
fn answer(exit: Exit, told: Told, complaint: &str) -> Option<Answer> {
    let body = told.text();
    let (status, body) = match http_status(complaint) {
        _ if exit.stopped().is_some() => return None,
        _ if exit.success() => (StatusCode::OK, body),
        // The body says more than the complaint, but there may be none.
        Some(status) if body.starts_with('{') => (status, body),
        Some(status) => (status, json!({ "message": complaint }).to_string()),
        None => return None,
    };
    Some(Answer {
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        headers: Map::new(),
        body,
        truncated: told.truncated,
    })
}

/// Finds the status of a refusal: `gh: Not Found (HTTP 404)`.
fn http_status(complaint: &str) -> Option<StatusCode> {
    let mut found = complaint.rmatch_indices("HTTP ").filter_map(|(at, mark)| {
        let digits = complaint.get(at + mark.len()..at + mark.len() + 3)?;
        StatusCode::from_bytes(digits.as_bytes()).ok()
    });
    found.find(|status| status.is_client_error() || status.is_server_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_gh_cannot_be_sent_to_is_left_to_rest() {
        let cases = [
            ("https://api.github.com", Some("github.com")),
            ("https://api.github.com/", Some("github.com")),
            ("https://git.example.com/api/v3", Some("git.example.com")),
            ("https://api.octo.ghe.com", Some("octo.ghe.com")),
            ("http://127.0.0.1:8080", None),
            ("http://api.github.com", None),
            ("https://localhost:8080/api/v3", None),
            ("https://--method/api/v3", None),
            ("https://api.example.com", None),
            ("https://proxy.example.com/github", None),
            ("", None),
        ];
        for (address, host) in cases {
            assert_eq!(hostname(address).as_deref(), host, "{address}");
        }
    }

    #[test]
    fn the_status_of_a_refusal_is_read_from_the_complaint() {
        let cases = [
            ("gh: Not Found (HTTP 404)", Some(404)),
            ("gh: HTTP 502", Some(502)),
            ("gh: HTTP 999 is no status (HTTP 422)\nA pull request already exists", Some(422)),
            ("gh: it speaks HTTP 2 (HTTP 20", None),
            ("error connecting to api.github.com", None),
            ("HTTP ü404", None),
        ];
        for (complaint, status) in cases {
            assert_eq!(http_status(complaint).map(|status| status.as_u16()), status, "{complaint}");
        }
    }
}
