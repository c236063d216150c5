//! What a workflow can do without a program of its own.
