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
        let directory = private_directory()?;
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

/// Makes a directory whose path leaves room for that of a socket.
fn private_directory() -> io::Result<TempDir> {
    let fits = |made: &TempDir| socket_in(made.path()).as_os_str().as_bytes().len() <= LONGEST_PATH;
    let usual = private_directory_in(&std::env::temp_dir());
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
