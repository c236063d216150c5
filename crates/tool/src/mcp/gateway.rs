//! A private socket that tools are served at: who may come in, and when it closes. Speaks no MCP.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{AbortHandle, JoinSet};

use super::ToolSet;
use super::server::serve;

/// How many clients may be connected at once.
const MOST_CLIENTS: usize = 256;
/// How long a path the kernel takes for a socket, less the zero at its end.
const LONGEST_PATH: usize = 107;
/// How long to wait when the system has no more to give, before the next client is let in.
const PAUSE: Duration = Duration::from_millis(100);

/// A private socket that tools are served at. Dropping it takes the socket away and ends its connections.
pub struct Gateway {
    socket: PathBuf,
    accepting: AbortHandle,
    // Held for its end: dropping it removes the directory and what is in it.
    _directory: TempDir,
}

impl Gateway {
    /// Opens a socket in a directory of its own that only this user can enter.
    ///
    /// # Errors
    ///
    /// Fails when the directory or the socket cannot be made.
    pub async fn open(tools: Arc<dyn ToolSet>) -> io::Result<Gateway> {
        let directory = private_directory(&std::env::temp_dir())?;
        let socket = socket_in(directory.path());
        let owner = fs::metadata(directory.path())?.uid();
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        let accepting = tokio::spawn(accept(listener, owner, tools)).abort_handle();
        Ok(Gateway { socket, accepting, _directory: directory })
    }

    /// Returns where it is.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Makes a directory whose path leaves room for that of a socket, elsewhere if need be.
fn private_directory(usual: &Path) -> io::Result<TempDir> {
    let fits = |made: &TempDir| socket_in(made.path()).as_os_str().as_bytes().len() <= LONGEST_PATH;
    let usual = private_directory_in(usual);
    usual.ok().filter(fits).map_or_else(|| private_directory_in(Path::new("/tmp")), Ok)
}

fn private_directory_in(place: &Path) -> io::Result<TempDir> {
    let only_ours = Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("quipu-").permissions(only_ours).tempdir_in(place)
}

fn socket_in(directory: &Path) -> PathBuf {
    directory.join("tools.sock")
}

/// Lets clients in until it is dropped, and all of them with it.
async fn accept(listener: UnixListener, owner: u32, tools: Arc<dyn ToolSet>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            came = listener.accept() => match came {
                Ok((client, _)) if clients.len() < MOST_CLIENTS && is_of(&client, owner) => {
                    clients.spawn(attend(client, Arc::clone(&tools)));
                }
                Ok(_) => tracing::warn!("a client was turned away from the tools of this run"),
                Err(cause) => {
                    tracing::warn!(%cause, "a client could not be let in");
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

/// Tells whether a client belongs to the user that the socket belongs to.
fn is_of(client: &UnixStream, owner: u32) -> bool {
    client.peer_cred().is_ok_and(|peer| peer.uid() == owner)
}

async fn attend(client: UnixStream, tools: Arc<dyn ToolSet>) {
    let (reader, writer) = client.into_split();
    if let Err(cause) = serve(tools, reader, writer).await {
        tracing::debug!(%cause, "a client of the tools of this run is gone");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::mcp::{Answering, Asked, Introduction};
    use crate::{Answer, ToolSpec};

    struct Nothing;

    impl ToolSet for Nothing {
        fn introduction(&self) -> Introduction {
            Introduction::default()
        }

        fn specs(&self) -> Vec<ToolSpec> {
            Vec::new()
        }

        fn call(&self, _: Asked) -> Answering<'_> {
            Box::pin(async { Answer::failed("there is nothing") })
        }
    }

    #[tokio::test]
    async fn a_client_of_another_user_is_turned_away_and_one_of_ours_is_not() {
        let directory = private_directory(&std::env::temp_dir()).unwrap();
        let ours = fs::metadata(directory.path()).unwrap().uid();
        for (owner, is_let_in) in [(ours, true), (ours + 1, false)] {
            let socket = directory.path().join(owner.to_string());
            let listener = UnixListener::bind(&socket).unwrap();
            let accepting = tokio::spawn(accept(listener, owner, Arc::new(Nothing)));
            let mut client = UnixStream::connect(&socket).await.unwrap();
            let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
            // Whoever is turned away may be so before it has said anything.
            let _ = tokio::io::AsyncWriteExt::write_all(&mut client, ping).await;
            let mut said = [0; 1];
            let read = client.read(&mut said).await.unwrap_or(0);
            assert_eq!(read == 1, is_let_in, "{owner}");
            accepting.abort();
        }
    }

    #[test]
    fn a_directory_too_long_for_a_socket_is_not_used() {
        let deep = tempfile::tempdir().unwrap();
        let long = deep.path().join("d".repeat(120));
        fs::create_dir(&long).unwrap();
        for place in [long.as_path(), Path::new("/nowhere/at/all")] {
            let made = private_directory(place).unwrap();
            assert!(made.path().starts_with("/tmp/"), "{made:?}");
            std::os::unix::net::UnixListener::bind(socket_in(made.path())).unwrap();
        }
        assert_eq!(fs::read_dir(&long).unwrap().count(), 0);
    }
}
