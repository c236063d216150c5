//! What tokens cost: price tables, and the price of one `usage` event at its time.
//!
//! A table says what a provider's list said, nothing else: discounts, subscriptions and taxes are
//! not known here. Sums are whole numbers throughout, so that no order of adding changes them.

mod amount;
mod matching;
mod sheet;
mod table;
mod wire;

pub use amount::Amount;
pub use sheet::{PriceError, PriceSheet};
pub use table::{PriceTable, Pricer, Quote};
