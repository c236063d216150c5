//! Performs what the engine wants done, and records it.
