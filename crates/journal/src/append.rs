//! Whole lines onto the end of a file, and an exact account of what arrived.

use std::fs::File;
use std::io;

/// A file that is only ever added to.
///
/// A trait so that tests can put a failing disk in its place.
pub(crate) trait Append: Send {
    /// Writes some of `bytes` with one system call and returns how many.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns when everything written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Append for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The C library's `write` also asks whether the thread is to be canceled, before and after.
        Ok(rustix::io::write(self, bytes)?)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Writes all of `bytes`, in one call if the system takes them in one.
///
/// Returns how many bytes arrived and, if that is not all of them, why.
pub(crate) fn append_all<A: Append + ?Sized>(
    file: &mut A,
    bytes: &[u8],
) -> (usize, Option<io::Error>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.append(&bytes[written..]) {
            Ok(0) => return (written, Some(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

#[cfg(test)]
pub(crate) mod faulty {
    //! A disk that fails as scripted.

    use std::collections::VecDeque;

    use super::*;

    /// What the next write does.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Fault {
        /// Takes only so many bytes.
        Short(usize),
        /// Fails with this error number.
        Fails(i32),
    }

    /// A real file behind a list of faults, one per write.
    pub(crate) struct FaultyFile {
        pub(crate) file: File,
        pub(crate) faults: VecDeque<Fault>,
        pub(crate) sync_fault: Option<i32>,
    }

    impl Append for FaultyFile {
        fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.faults.pop_front() {
                Some(Fault::Short(count)) => self.file.append(&bytes[..count.min(bytes.len())]),
                Some(Fault::Fails(errno)) => Err(io::Error::from_raw_os_error(errno)),
                None => self.file.append(bytes),
            }
        }

        fn sync(&mut self) -> io::Result<()> {
            match self.sync_fault {
                Some(errno) => Err(io::Error::from_raw_os_error(errno)),
                None => self.file.sync(),
            }
        }
    }
}
