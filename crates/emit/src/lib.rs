//! Events as structured log records, for programs that collect logs.
