//! Where the bytes come from: a file or standard input, compressed or not.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::exit::UserError;

/// What a zstd frame begins with.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The bytes of one input.
pub(super) struct Input {
    reader: Box<dyn Read>,
    path: Option<PathBuf>,
    /// Why decompressing stopped before the end, if it did.
    broken: Option<String>,
    is_compressed: bool,
}

impl Input {
    /// Opens `path`, or standard input if there is none or it is `-`.
    pub(super) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let path = path.filter(|path| *path != Path::new("-"));
        let mut reader: Box<dyn Read> = match path {
            Some(path) => Box::new(open_file(path)?),
            None => Box::new(io::stdin().lock()),
        };
        let mut start = Vec::new();
        reader.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut start)?;
        let is_compressed = start == ZSTD_MAGIC;
        let whole = Cursor::new(start).chain(reader);
        let reader: Box<dyn Read> = if is_compressed {
            Box::new(zstd::stream::read::Decoder::new(whole)?)
        } else {
            Box::new(whole)
        };
        Ok(Input { reader, path: path.map(Path::to_owned), broken: None, is_compressed })
    }

    /// Returns what people call it.
    pub(super) fn name(&self) -> String {
        self.path.as_ref().map_or("standard input".to_owned(), |path| path.display().to_string())
    }

    /// Returns where it lies, if it is a file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns why decompressing stopped before the end, if it did.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}

impl Read for Input {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.broken.is_some() {
            return Ok(0);
        }
        match self.reader.read(piece) {
            // What was compressed before the damage is good, and is told beside it.
            Err(error) if self.is_compressed => {
                self.broken = Some(format!("compressed data is damaged: {error}"));
                Ok(0)
            }
            other => other,
        }
    }
}

fn open_file(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            UserError::new(format!("there is no file {}", path.display())).into()
        }
        _ => anyhow::Error::new(error).context(format!("cannot open {}", path.display())),
    })?;
    let kind = file.metadata().with_context(|| format!("cannot open {}", path.display()))?;
    if kind.is_dir() {
        let message = format!("{} is a folder", path.display());
        return Err(UserError::new(message).with_hint("name one session file in it").into());
    }
    Ok(file)
}
