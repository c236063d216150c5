//! A run as one page for a browser: `<run-id>.html`.
//!
//! The page holds everything it needs and fetches nothing. Events stand in it as data, a line for
//! each, and a script of ours shows those in sight. Nothing that a run says is ever a part of the
//! page itself: it stands inside JSON strings without a `<`, and the script makes texts of it, never
//! elements. A browser obeys no script but ours, whose hash the page names.

mod index;
mod markup;
mod row;
mod seal;

use quipu_event::Event;

use crate::files::{FileView, Losses, Shelf};

pub use index::{RunCard, index};

/// Data is handed over when there is so much of it.
const CHUNK: usize = 256 * 1024;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/events.js"),
    include_str!("page/prose.js"),
    include_str!("page/draw.js"),
    include_str!("page/list.js"),
    include_str!("page/tree.js"),
    include_str!("page/tables.js"),
    include_str!("page/search.js"),
    include_str!("page/start.js"),
);

/// Folds a run into a page for a browser.
#[derive(Default)]
pub struct HtmlView {
    /// The name of the page, once it has begun.
    file: Option<String>,
    chunk: String,
    losses: Losses,
}

impl HtmlView {
    /// Begins a page.
    pub fn new() -> Self {
        HtmlView::default()
    }

    fn hand_over(&mut self, shelf: &mut dyn Shelf) {
        if let Some(file) = self.file.as_ref().filter(|_| !self.chunk.is_empty()) {
            self.chunk.push_str("</script>\n");
            shelf.append(file, self.chunk.as_bytes());
        }
        self.chunk.clear();
    }
}

impl FileView for HtmlView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        if self.file.is_none() {
            let file = format!("{}.html", event.run_id);
            shelf.append(&file, opening(event).as_bytes());
            self.file = Some(file);
        }
        if self.chunk.is_empty() {
            self.chunk.reserve(CHUNK + CHUNK / 4);
            self.chunk.push_str("<script type=\"application/json\" class=\"events\">\n");
        }
        row::write(&mut self.chunk, event);
        if self.chunk.len() >= CHUNK {
            self.hand_over(shelf);
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        self.hand_over(shelf);
        if let Some(file) = &self.file {
            let end =
                "<script type=\"application/json\" id=\"end\">true</script>\n</body>\n</html>\n";
            shelf.append(file, end.as_bytes());
        }
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Returns everything of the page that stands before its data.
fn opening(event: &Event) -> String {
    let (mut title, mut parent) = (String::new(), String::new());
    markup::text(&mut title, event.run_id.as_str());
    markup::text(&mut parent, event.parent_run_id.as_ref().map_or("", |run| run.as_str()));
    markup::filled(
        PAGE,
        &[
            ("{{run}}", &title),
            ("{{parent}}", &parent),
            ("{{script-hash}}", seal::PAGE_SCRIPT),
            ("{{style-hash}}", seal::PAGE_STYLE),
            ("{{style}}", STYLE),
            ("{{script}}", SCRIPT),
        ],
    )
}
