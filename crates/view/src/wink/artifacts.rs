//! The files of a bundle, and the checksum of each.

use std::collections::BTreeMap;

use quipu_event::{Json, RunId};
use sha2::{Digest, Sha256};

use super::ROOT;
use super::run::wire::{Integrity, Manifest};
use crate::files::Shelf;
use crate::plain;

/// Puts the files of one bundle on a shelf and remembers what they add up to.
pub(super) struct Artifacts {
    folder: String,
    sums: BTreeMap<String, Sha256>,
}

impl Artifacts {
    /// Begins the bundle of a run.
    pub(super) fn of(run_id: &RunId) -> Self {
        Artifacts { folder: format!("{run_id}/{ROOT}/"), sums: BTreeMap::new() }
    }

    /// Adds `bytes` at the end of a file.
    pub(super) fn append(&mut self, name: &str, bytes: &[u8], shelf: &mut dyn Shelf) {
        match self.sums.get_mut(name) {
            Some(sum) => sum.update(bytes),
            None => drop(self.sums.insert(name.to_owned(), Sha256::new_with_prefix(bytes))),
        }
        shelf.append(&format!("{}{name}", self.folder), bytes);
    }

    /// Puts down a whole file.
    pub(super) fn put(&mut self, name: &str, bytes: &[u8], shelf: &mut dyn Shelf) {
        self.sums.insert(name.to_owned(), Sha256::new_with_prefix(bytes));
        shelf.put(&format!("{}{name}", self.folder), bytes);
    }

    /// Puts down a whole file of JSON, spread over lines for people.
    pub(super) fn put_json(&mut self, name: &str, json: &Json, shelf: &mut dyn Shelf) {
        self.put(name, pretty(&plain::text(json.as_str())).as_bytes(), shelf);
    }

    /// Puts down what the bundle is made of. Nothing comes after that.
    pub(super) fn close(self, manifest: &Manifest<'_>, shelf: &mut dyn Shelf) {
        let sums: BTreeMap<String, String> = self
            .sums
            .into_iter()
            .map(|(name, sum)| {
                let digits = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                (name, digits)
            })
            .collect();
        let files = sums.keys().map(String::as_str).collect();
        let integrity = Integrity { algorithm: "sha256", checksums: &sums };
        let json = manifest.to_json(files, integrity);
        let text = pretty(&plain::text(json.as_str()));
        shelf.put(&format!("{}manifest.json", self.folder), text.as_bytes());
    }
}

/// Spreads JSON over lines. Its numbers and the order of its keys stay as they are.
fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                if characters.next_if(|next| matches!(next, '}' | ']')).is_some() {
                    out.push(if character == '{' { '}' } else { ']' });
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
