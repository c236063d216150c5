//! The crate's one test binary. A new view gets a module of its own in `all/`.
//!
//! - `transcript`: short lines → events, for all other modules
//! - `tree`, `foreign`, `join`, `render`: the tree, by what is asked of it
//! - `structure`: random runs, rebuilt from their events
//! - `entries`: events as records of a structured log
//! - `flow_studio`: runs in the layout of Flow Studio
//! - `markdown`, `html`: pages for people
//! - `markdown`, `html`, `browser`: pages for people, the latter in a real browser
//! - `summary`: counts, durations, tokens
//! - `activity`: what a run is doing
//! - `kgent`: that layout of files
//! - `price`, `receipt`: what runs cost
//! - `awf`: transcripts for AWF, and its audit trail
//! - `wink`: debug bundles
//! - `diff`: where two runs part
//! - `atif`, `otlp`, `chrome_trace`: layouts for tools, each with a strict reader of its own
//! - `resumed`: a run that was taken up again, in all views
//! - `random_run`: runs that make no sense, for those
//! - `robustness`: whatever a line may hold

mod all {
    mod activity;
    mod atif;
    mod awf;
    mod browser;
    mod chrome_trace;
    mod diff;
    mod entries;
    mod flow_studio;
    mod foreign;
    mod html;
    mod join;
    mod kgent;
    mod markdown;
    mod otlp;
    mod price;
    mod random_run;
    mod receipt;
    mod render;
    mod resumed;
    mod robustness;
    mod structure;
    mod summary;
    mod transcript;
    mod tree;
    mod wink;
}
