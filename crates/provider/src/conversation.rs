//! What has been said before, for surfaces whose every request repeats the whole conversation.
//!
//! A request is compared with the conversations seen so far; only what it adds is new. Replies
//! are recognised by their place alone, because clients send them back in their own words. It
//! knows no provider: what makes two messages equal is decided by who computes their keys.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// So many conversations are remembered at a time.
const REMEMBERED: usize = 32;

/// Who speaks in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// Whoever set the model up.
    System,
    /// A person, a program or a tool.
    Client,
    /// The model itself.
    Model,
}

/// One thing that a request says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// Who says it.
    pub(crate) by: Speaker,
    /// What it says, in short: equal for equal content.
    pub(crate) key: u64,
}

/// Collects what makes a message equal to another.
#[derive(Default)]
pub(crate) struct Key(DefaultHasher);

impl Key {
    /// Adds a piece.
    pub(crate) fn add(&mut self, piece: &str) {
        piece.hash(&mut self.0);
    }

    /// Makes what was said of the pieces.
    pub(crate) fn said(self, by: Speaker) -> Said {
        Said { by, key: self.0.finish() }
    }
}

#[derive(Clone, Copy)]
enum Known {
    Said(u64),
    /// A reply that was seen as such.
    Reply,
}

/// The conversations of one input.
#[derive(Default)]
pub(crate) struct Conversations {
    /// The one spoken of last stands last.
    known: Vec<Vec<Known>>,
    instructions: HashSet<u64>,
}

impl Conversations {
    /// Takes a request and tells of each thing in it whether it is new.
    pub(crate) fn request(&mut self, said: &[Said]) -> Vec<bool> {
        let talk: Vec<Said> = said.iter().copied().filter(|said| !is_system(said)).collect();
        let best = self.known.iter().enumerate().rev();
        let best = best.map(|(at, known)| (at, common(known, &talk))).fold(
            None,
            |best: Option<(usize, (usize, usize))>, next| match best {
                Some(best) if best.1.0 >= next.1.0 => Some(best),
                _ => Some(next),
            },
        );
        let repeated = match best {
            Some((at, (repeated, known))) if repeated > 0 => {
                self.go_on(at, known);
                repeated
            }
            _ => {
                self.begin(Vec::new());
                0
            }
        };
        self.extend(&talk[repeated..]);
        self.news(said, repeated)
    }

    /// Takes a request that says only what is new.
    pub(crate) fn addition(&mut self, said: &[Said]) -> Vec<bool> {
        if self.known.is_empty() {
            self.begin(Vec::new());
        }
        let talk: Vec<Said> = said.iter().copied().filter(|said| !is_system(said)).collect();
        self.extend(&talk);
        self.news(said, 0)
    }

    /// Takes a reply to the last request.
    pub(crate) fn reply(&mut self) {
        if let Some(known) = self.known.last_mut() {
            known.push(Known::Reply);
        }
    }

    /// Goes on with the conversation at `at`, from the first `len` things in it.
    fn go_on(&mut self, at: usize, len: usize) {
        if self.known[at].len() == len {
            let known = self.known.remove(at);
            self.known.push(known);
        } else {
            let known = self.known[at][..len].to_vec();
            self.begin(known);
        }
    }

    fn begin(&mut self, known: Vec<Known>) {
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push(known);
    }

    fn extend(&mut self, talk: &[Said]) {
        if let Some(known) = self.known.last_mut() {
            known.extend(talk.iter().map(|said| Known::Said(said.key)));
        }
    }

    fn news(&mut self, said: &[Said], repeated: usize) -> Vec<bool> {
        let mut talked = 0;
        let is_new = |said: &Said| {
            if is_system(said) {
                return self.instructions.insert(said.key);
            }
            talked += 1;
            talked > repeated
        };
        said.iter().map(is_new).collect()
    }
}

fn is_system(said: &Said) -> bool {
    said.by == Speaker::System
}

/// Returns how many things of `talk`, and of `known`, are the same from the beginning.
fn common(known: &[Known], talk: &[Said]) -> (usize, usize) {
    let mut at = 0;
    for (number, known) in known.iter().enumerate() {
        match known {
            Known::Said(key) if talk.get(at).is_some_and(|said| said.key == *key) => at += 1,
            Known::Said(_) => return (at, number),
            // A reply that said nothing is not sent back, and one may be sent back in pieces.
            Known::Reply => {
                let is_model = |said: &&Said| said.by == Speaker::Model;
                at += talk[at..].iter().take_while(is_model).count();
            }
        }
    }
    (at, known.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u…` is said by the client, `m…` by the model, `s…` by the system.
    fn said(words: &str) -> Vec<Said> {
        let said = |word: &str| {
            let mut key = Key::default();
            key.add(word);
            key.said(match word.as_bytes()[0] {
                b's' => Speaker::System,
                b'm' => Speaker::Model,
                _ => Speaker::Client,
            })
        };
        words.split(' ').map(said).collect()
    }

    /// Takes requests, with a reply to each, and returns what was new in the last.
    fn last_news(requests: &[&str]) -> String {
        let mut conversations = Conversations::default();
        let mut news = Vec::new();
        for request in requests {
            news = conversations.request(&said(request));
            conversations.reply();
        }
        let words = requests.last().into_iter().flat_map(|words| words.split(' '));
        let new = words.zip(news).filter(|(_, is_new)| *is_new).map(|(word, _)| word);
        new.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_a_request_adds_is_new() {
        for (requests, new) in [
            (&["s u1"][..], "s u1"),
            (&["s u1", "s u1 m1 u2"], "u2"),
            (&["u1", "u1 m1 m1b u2", "u1 m1 m1b u2 m2 u3"], "u3"),
            (&["u1", "u1 u2"], "u2"),
            (&["u1", "u1"], ""),
            (&["u1", "u9", "u1 m1 u2"], "u2"),
            (&["u1", "u1 m1 u2", "u1 m1 u3"], "u3"),
            (&["s u1", "s2 u1 m1 u2"], "s2 u2"),
            (&["u1 m0 u2"], "u1 m0 u2"),
        ] {
            assert_eq!(last_news(requests), new, "{requests:?}");
        }
    }

    #[test]
    fn an_addition_is_new_even_if_it_was_said_before() {
        let mut conversations = Conversations::default();
        assert_eq!(conversations.request(&said("u1")), [true]);
        conversations.reply();
        assert_eq!(conversations.addition(&said("u1")), [true]);
    }
}
