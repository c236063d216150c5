//! The bytes of one session file, plain or compressed, from any place on.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// What a compressed file is called beyond its own name.
const COMPRESSED: &str = ".zst";

/// Agents replace a file by its compressed form, and back: for a moment neither may be there.
const TRIES: u32 = 4;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// A file that is read from its beginning on, and later from where that ended.
pub(crate) struct Input {
    content: Content,
}

enum Content {
    Plain(File),
    Compressed { reader: Box<dyn Read + Send>, at: u64 },
}

impl Input {
    /// Opens the file at `path`, or its other form if that has taken its place.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let opened = open_form(path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => open_form(&other_form(path)),
                _ => Err(error),
            });
            match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                    tries += 1;
                    thread::sleep(BETWEEN_TRIES);
                }
                opened => return opened,
            }
        }
    }

    /// Tells whether the file can grow: a compressed one is done.
    pub(crate) fn can_grow(&self) -> bool {
        matches!(self.content, Content::Plain(_))
    }

    /// Reads from `offset` on, and returns how many bytes there were.
    ///
    /// A compressed file is read in order only.
    pub(crate) fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Plain(file) => file.read_at(buffer, offset),
            Content::Compressed { reader, at } => {
                while *at < offset {
                    let wanted = (offset - *at).min(buffer.len() as u64) as usize;
                    match reader.read(&mut buffer[..wanted])? {
                        0 => return Ok(0),
                        read => *at += read as u64,
                    }
                }
                let read = reader.read(buffer)?;
                *at += read as u64;
                Ok(read)
            }
        }
    }
}

fn open_form(path: &Path) -> io::Result<Input> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let content = match is_compressed(path) {
        true => {
            let reader = Box::new(zstd::stream::read::Decoder::new(file)?);
            Content::Compressed { reader, at: 0 }
        }
        false => Content::Plain(file),
    };
    Ok(Input { content })
}

/// Tells whether the file at `path` is compressed.
pub(crate) fn is_compressed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(COMPRESSED))
}

/// Returns the path without what a compressed file is called beyond its own name.
pub(crate) fn plain_form(path: &Path) -> PathBuf {
    match path.to_str().and_then(|path| path.strip_suffix(COMPRESSED)) {
        Some(plain) => PathBuf::from(plain),
        None => path.to_owned(),
    }
}

fn other_form(path: &Path) -> PathBuf {
    if is_compressed(path) {
        return plain_form(path);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(COMPRESSED);
    name.into()
}

/// Reads the beginning of the file at `path`: its first line that says anything, but no more than
/// `most` bytes, and whether the line has ended there.
pub(crate) fn first_line(path: &Path, most: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut input = Input::open(path)?;
    let mut text = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    loop {
        let read = input.read_at(text.len() as u64, &mut piece)?;
        text.extend_from_slice(&piece[..read]);
        let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
        if let Some(end) = memchr::memchr(b'\n', &text[start..]) {
            return Ok((text[start..start + end].to_vec(), true));
        }
        if read == 0 || text.len() >= most {
            return Ok((text.split_off(start), read > 0));
        }
    }
}
