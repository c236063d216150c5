//! Arbitrary bytes against the reader of price lists: a slip is an error that names its line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_view::PriceTable;
use quipu_view::price::PriceSheet;

fuzz_target!(|text: &str| match PriceSheet::parse(text) {
    Ok(sheet) => {
        let version = sheet.version.clone();
        let table = PriceTable::default().overridden_by(sheet);
        assert_eq!(table.version(0), Some(version.as_str()));
    }
    Err(error) => assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}"),
});
