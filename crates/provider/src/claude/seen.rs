//! Which records came before: agents copy them when a session is resumed or forked.

use std::collections::HashSet;

use crate::value::Value;

/// The ids of the records seen so far.
#[derive(Default)]
pub(super) struct SeenRecords {
    /// Most ids are UUIDs, and there is one for every record: so they take little room.
    numbers: HashSet<u128>,
    others: HashSet<String>,
}

impl SeenRecords {
    /// Notes a record's id and tells whether it is new. One without an id always is.
    pub(super) fn is_new(&mut self, id: Option<Value<'_>>) -> bool {
        let Some(text) = id.and_then(Value::text) else { return true };
        match uuid_number(&text) {
            Some(number) => self.numbers.insert(number),
            None => self.others.insert(text.into_owned()),
        }
    }
}

/// Returns the number that a UUID is.
pub(super) fn uuid_number(text: &str) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    text.bytes().enumerate().try_fold(0, |number: u128, (at, byte)| match byte {
        b'-' if matches!(at, 8 | 13 | 18 | 23) => Some(number),
        _ => Some(number << 4 | u128::from((byte as char).to_digit(16)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_a_number_and_nothing_else_is() {
        let uuid = "00000000-0000-4000-8000-0000000000ff";
        assert_eq!(uuid_number(uuid), Some(0x4000_8000_0000_0000_00ff));
        assert_eq!(uuid_number("u1"), None);
        assert_eq!(uuid_number(&uuid.replace('f', "g")), None);
    }
}
