//! Bytes between a pair of streams and a socket. Looks at none of them.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::UnixStream;

/// How long the far side may take to say its last once the near side has nothing more to say.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Carries bytes between a pair of streams and a socket, until either end closes.
///
/// When the reader ends, the far side is told so and may still answer what it was asked.
///
/// # Errors
///
/// Fails when there is nobody at the socket, or a stream fails.
pub async fn forward<R, W>(socket: &Path, mut reader: R, mut writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let far = UnixStream::connect(socket).await.map_err(|cause| nobody(socket, cause))?;
    let (mut from_far, mut to_far) = far.into_split();
    let there = async {
        let carried = copy(&mut reader, &mut to_far).await;
        // A far side that is gone needs not be told.
        let _ = to_far.shutdown().await;
        gone_is_an_end(carried)
    };
    let back = async {
        let carried = copy(&mut from_far, &mut writer).await;
        gone_is_an_end(carried)?;
        writer.flush().await
    };
    tokio::pin!(there, back);
    tokio::select! {
        ended = &mut back => ended,
        ended = &mut there => {
            ended?;
            tokio::time::timeout(LAST_WORDS, back).await.unwrap_or(Ok(()))
        }
    }
}

fn nobody(socket: &Path, cause: io::Error) -> io::Error {
    let socket = socket.display();
    let told = match cause.kind() {
        io::ErrorKind::NotFound => {
            format!("{socket}: not there: the run that offered these tools is over")
        }
        io::ErrorKind::ConnectionRefused => {
            let over = "the run that offered these tools is over, or this is not its socket";
            format!("{socket}: nobody answers: {over}")
        }
        _ => format!("{socket}: {cause}"),
    };
    io::Error::new(cause.kind(), told)
}

/// Takes a side that has hung up for one that has ended.
fn gone_is_an_end(carried: io::Result<u64>) -> io::Result<()> {
    match carried {
        Err(cause)
            if matches!(
                cause.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(())
        }
        other => other.map(drop),
    }
}
