//! Runs an agent under the recorder.
