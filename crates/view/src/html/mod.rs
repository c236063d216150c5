//! A run as one page for a browser: `<run-id>.html`.
//!
//! The page holds everything it needs and fetches nothing. Events stand in it as data, a line for
//! each, and a script of ours shows those in sight. Nothing that a run says is ever a part of the
//! page itself: it stands inside JSON strings without a `<`, and the script makes texts of it, never
//! elements. A browser obeys no script but ours, whose hash the page names.

mod index;
mod markup;
mod page_name;
mod row;
mod seal;

use std::sync::Arc;

use quipu_event::Event;

use crate::files::{FileView, Losses, Shelf};
use crate::price::PriceTable;
use crate::receipt::{self, ReceiptBuilder, ReceiptOptions};

pub use index::{RunCard, index};

/// Data stands in elements of about this length, so that a page is read while it is loaded.
const CHUNK: usize = 256 * 1024;

const CHUNK_END: &str = "</script>\n";

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/events.js"),
    include_str!("page/prose.js"),
    include_str!("page/recorded.js"),
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
    /// How much stands in the element that is open; 0 when none is.
    in_chunk: usize,
    row: String,
    receipt: Option<ReceiptBuilder>,
    losses: Losses,
}

impl HtmlView {
    /// Begins a page whose costs are those that providers named.
    pub fn new() -> Self {
        HtmlView::default()
    }

    /// Begins a page whose costs are those of a receipt, priced with `prices` where nobody named
    /// them.
    pub fn with_prices(prices: Arc<PriceTable>) -> Self {
        let receipt = ReceiptBuilder::new(prices, ReceiptOptions::default());
        HtmlView { receipt: Some(receipt), ..HtmlView::default() }
    }
}

impl FileView for HtmlView {
    /// Each event leaves at once: a page of a run that is cut off shows what there was.
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let is_first = self.file.is_none();
        let file = self.file.get_or_insert_with(|| {
            let file = page_name::of(&event.run_id);
            shelf.append(&file, opening(event).as_bytes());
            file
        });
        self.row.clear();
        if self.in_chunk == 0 {
            self.row.push_str("<script type=\"application/json\" class=\"events\">\n");
        }
        row::write(&mut self.row, event);
        self.in_chunk += self.row.len();
        if self.in_chunk >= CHUNK {
            self.row.push_str(CHUNK_END);
            self.in_chunk = 0;
        }
        shelf.append(file, self.row.as_bytes());
        if let Some(receipt) = &mut self.receipt {
            // The first event says which run it is, whatever its type.
            match is_first || receipt::is_needed(event.kind.as_str()) {
                true => receipt.add(event),
                false => receipt.hear_until(event.timestamp),
            }
        }
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        let Some(file) = &self.file else { return };
        let mut end = String::from(if self.in_chunk > 0 { CHUNK_END } else { "" });
        let receipt = self.receipt.take().and_then(ReceiptBuilder::finish);
        if let Some(receipt) = receipt.and_then(|receipt| serde_json::to_string(&receipt).ok()) {
            end.push_str("<script type=\"application/json\" id=\"receipt\">");
            row::harmless(&mut end, &receipt);
            end.push_str("</script>\n");
        }
        end.push_str("<script type=\"application/json\" id=\"end\">true</script>\n");
        end.push_str("</body>\n</html>\n");
        shelf.append(file, end.as_bytes());
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
