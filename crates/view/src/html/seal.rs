//! The hashes of our scripts and styles, by which a browser knows them from anything else.
//!
//! They are written here and not computed, so that this crate needs no hash function. A test
//! computes them and says what they have to be.

pub(crate) const PAGE_SCRIPT: &str = "sha256-Aep8YSxll7aPS5jiQl9nf8h7G9z9kkehOoDJ0Ca0mfw=";
pub(crate) const PAGE_STYLE: &str = "sha256-eWLQgmYuWaXLy5/6zckNQb7zjD5R5HRn3bXSKIrBZe0=";
pub(crate) const INDEX_SCRIPT: &str = "sha256-G80xlF8w1CxN5gOUtws9DAKQ8TNN+zvxGHEQskWnb8o=";
pub(crate) const INDEX_STYLE: &str = "sha256-1McbO5dBbc7D4+YNQiLTYw3IdNRUm8ulAzfmVl/oK3Q=";
