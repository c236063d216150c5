//! Bodies that an agent keeps beside its input instead of in it.
//!
//! An agent may put a large output into a file of its own and leave a note in its place. This crate
//! opens no file. Whoever has the files can answer for them; without an answer the note stays.

/// Answers for what lies beside an input.
pub trait Companions: Send {
    /// Returns what lies at `place`, if there is such a thing.
    ///
    /// A place is relative to the folder of the input: plain names between `/`, and at most one
    /// `..` before them. Its parts come out of the input and deserve no trust.
    fn body(&self, place: &str) -> Option<Vec<u8>>;
}
