//! The hashes of our scripts and styles, by which a browser knows them from anything else.
//!
//! They are written here and not computed, so that this crate needs no hash function. A test
//! computes them and says what they have to be.

pub(crate) const PAGE_SCRIPT: &str = "sha256-QCp6FgvsfwhnA3V+Il63GA9vDACPJNM71kd/+ehwKW4=";
pub(crate) const PAGE_STYLE: &str = "sha256-FR1CkxnvdZCSLKaJy+9BVp0epvwFPHZU1zojyVy+bLU=";
pub(crate) const INDEX_SCRIPT: &str = "sha256-G80xlF8w1CxN5gOUtws9DAKQ8TNN+zvxGHEQskWnb8o=";
pub(crate) const INDEX_STYLE: &str = "sha256-1McbO5dBbc7D4+YNQiLTYw3IdNRUm8ulAzfmVl/oK3Q=";
