//! A walk along JSON text whose keys stand in a known order.
//!
//! Every step answers nothing if the text does not go that way. What the keys are is known to those
//! who walk; what a value means, to those who take it.

use crate::cursor::{Cursor, Literal};
use crate::encode::MAX_DEPTH;
use crate::json::Json;
use crate::unescape::unescape;

/// A walk along a text.
pub(crate) struct Walk<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
}

impl<'a> Walk<'a> {
    pub(crate) fn along(text: &'a str) -> Self {
        Walk { text, cursor: Cursor::new(text.as_bytes()) }
    }

    /// Passes exactly these bytes.
    #[inline(always)]
    pub(crate) fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.cursor.literal(expected)
    }

    /// Passes exactly these bytes, and nothing may follow them.
    #[inline(always)]
    pub(crate) fn end(&mut self, expected: &[u8]) -> Option<()> {
        self.literal(expected)?;
        self.cursor.peek().is_none().then_some(())
    }

    /// Takes what follows `key`, if that is the next key.
    #[inline(always)]
    pub(crate) fn if_there<T>(
        &mut self,
        key: &[u8],
        take: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.literal(key).is_some() { take(self).map(Some) } else { Some(None) }
    }

    /// Takes what follows `key`, which must be the next key.
    #[inline(always)]
    pub(crate) fn after<T>(
        &mut self,
        key: &[u8],
        take: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.literal(key)?;
        take(self)
    }

    /// Text up to its closing quote, if nothing in it is escaped.
    pub(crate) fn plain_text(&mut self) -> Option<&'a str> {
        let Literal { inside, is_escaped } = self.cursor.string_inside()?;
        if is_escaped { None } else { self.text.get(inside) }
    }

    /// Text up to its closing quote.
    pub(crate) fn text(&mut self) -> Option<String> {
        let Literal { inside, is_escaped } = self.cursor.string_inside()?;
        let inside = self.text.get(inside)?;
        if is_escaped { unescape(inside) } else { Some(inside.to_owned()) }
    }

    pub(crate) fn whole_number(&mut self) -> Option<u64> {
        self.cursor.whole_number()
    }

    /// A value, without white space before it.
    pub(crate) fn value(&mut self) -> Option<Json> {
        let start = self.cursor.at();
        if matches!(self.cursor.peek()?, b' ' | b'\t' | b'\r') {
            return None;
        }
        self.cursor.value(MAX_DEPTH)?;
        Some(Json::trusted(self.text.get(start..self.cursor.at())?.to_owned()))
    }

    /// Passes `text` and its closing quote, if that is what stands here.
    pub(crate) fn same_text(&mut self, text: &str) -> Option<()> {
        let mut ahead = self.cursor;
        ahead.literal(text.as_bytes())?;
        ahead.literal(b"\"")?;
        self.cursor = ahead;
        Some(())
    }
}
