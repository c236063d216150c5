//! Takes over the files of other recorders.
