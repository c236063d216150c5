//! The hashes of our scripts and styles, by which a browser knows them from anything else.
//!
//! They are written here and not computed, so that this crate needs no hash function. A test
//! computes them and says what they have to be.

pub(crate) const PAGE_SCRIPT: &str = "sha256-JzNTETii0r7X/DSvhpPItrHLp4W8/wG+MrpW4xAMYS4=";
pub(crate) const PAGE_STYLE: &str = "sha256-e/ojEc/js9Iqm7uu3xF+1FJ5UO9JFB9MZzjTqIFOUF0=";
pub(crate) const INDEX_SCRIPT: &str = "sha256-G80xlF8w1CxN5gOUtws9DAKQ8TNN+zvxGHEQskWnb8o=";
pub(crate) const INDEX_STYLE: &str = "sha256-gTbiuToHpTE9UpaGYOHljvf6yOR6UGpzU0YfHBmESlI=";
