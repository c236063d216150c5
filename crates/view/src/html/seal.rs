//! The hashes of our scripts and styles, by which a browser knows them from anything else.
//!
//! They are written here and not computed, so that this crate needs no hash function. A test
//! computes them and says what they have to be.

pub(crate) const PAGE_SCRIPT: &str = "sha256-D4PC5SFYL+tLr2lrDwRerhO5nrqTF63pnEJSC4MoTOA=";
pub(crate) const PAGE_STYLE: &str = "sha256-c2WclJnoXLzNEzxxeMNRp18KuzaEavuBQ3Tvmi/Hq8w=";
pub(crate) const INDEX_SCRIPT: &str = "sha256-G80xlF8w1CxN5gOUtws9DAKQ8TNN+zvxGHEQskWnb8o=";
pub(crate) const INDEX_STYLE: &str = "sha256-WJ/EnyBH0E0HZ3ILryFFwkYvt2IDLAaFqqe1cVuNL8U=";
