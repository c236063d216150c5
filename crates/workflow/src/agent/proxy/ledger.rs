//! One call, counted once: which call of ours is which call that the agent speaks of.
//!
//! A call reaches us over the socket, and the agent tells of it on its stream, in either order. Both are
//! entered here; whichever comes second finds the other: by the id that the model gave the call, where the
//! agent passes it on, else as the oldest of the same tool with equal arguments. It records nothing.

use serde_json::Value;

/// The account of one turn of an agent. `D` is what is held of a mention until it is clear what it was.
#[derive(Debug)]
pub(super) struct Ledger<D> {
    /// Calls that the agent has not spoken of yet, oldest first.
    made: Vec<Made>,
    /// Calls that the agent has spoken of and not told the end of, oldest first.
    mentions: Vec<Mention<D>>,
    ids: Ids,
    is_closed: bool,
}

/// What the ids are worth that an agent sends along with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) enum Ids {
    /// They are those of its stream.
    OfStream,
    /// They are its model's only: on its stream the same call has another.
    OfModel,
}

/// A call, as either side has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spoken {
    /// The tool, by our name for it.
    pub(super) tool: String,
    /// What it is given.
    pub(super) input: Value,
}

/// A call of ours and the agent's word for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Our id of the call.
    pub(super) call_id: String,
    /// The agent's.
    pub(super) agent_call_id: String,
}

/// What is to be told now of a call and its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Telling<D> {
    /// That it is a call of ours: so much of its beginning and of its end.
    Linked(Link, Option<D>, Option<D>),
    /// That it never reached us: the agent's own word is all there is of it.
    Own(Option<D>, Option<D>),
    /// Nothing yet.
    Nothing,
}

#[derive(Debug)]
struct Made {
    call_id: String,
    /// The id by which the agent's model knows it, if the agent says so.
    model_id: Option<String>,
    spoken: Spoken,
}

#[derive(Debug)]
struct Mention<D> {
    agent_id: String,
    spoken: Spoken,
    call_id: Option<String>,
    stage: Stage<D>,
}

#[derive(Debug)]
enum Stage<D> {
    /// The model has said that it wants it.
    Said,
    /// The agent makes the call; it is not known yet whether of us.
    Held(D),
    /// The agent makes the call, and that has been told.
    Told,
    /// Everything has been told.
    Over,
    /// The call has ended, and it is not known yet which of several equal ones it was.
    Ended(D, D),
}

impl<D> Ledger<D> {
    pub(super) fn new(ids: Ids) -> Self {
        Ledger { made: Vec::new(), mentions: Vec::new(), ids, is_closed: false }
    }

    /// Enters a call that is made of us, and returns the id it goes by, with what was held of it.
    ///
    /// `free` makes an id of the wanted one that no other call has. Nothing is returned when the turn is
    /// over: such a call is not made.
    pub(super) fn made(
        &mut self,
        spoken: Spoken,
        model_id: Option<String>,
        free: impl FnOnce(Option<&str>) -> String,
    ) -> Option<(String, Telling<D>)> {
        if self.is_closed {
            return None;
        }
        let known = model_id.as_deref().filter(|_| self.ids == Ids::OfStream);
        let found = self.mentions.iter_mut().find(|mention| {
            let is_it = known.map_or(mention.spoken == spoken, |id| mention.agent_id == id);
            is_it && mention.call_id.is_none()
        });
        let Some(mention) = found else {
            let call_id = free(model_id.as_deref());
            self.made.push(Made { call_id: call_id.clone(), model_id, spoken });
            return Some((call_id, Telling::Nothing));
        };
        let call_id = free(Some(model_id.as_deref().unwrap_or(&mention.agent_id)));
        mention.call_id = Some(call_id.clone());
        let telling = mention.release(call_id.clone());
        self.mentions.retain(|mention| !matches!(mention.stage, Stage::Over));
        Some((call_id, telling))
    }

    /// Enters what the model says it wants, and returns our id of the call if it has been made already.
    pub(super) fn said(&mut self, agent_id: &str, spoken: Spoken) -> Option<String> {
        let call_id = self.claim(agent_id, &spoken);
        let agent_id = agent_id.to_owned();
        self.mentions.push(Mention {
            agent_id,
            spoken,
            call_id: call_id.clone(),
            stage: Stage::Said,
        });
        call_id
    }

    /// Enters a call that the agent tells of; it is held if nothing is known of it here.
    pub(super) fn told(&mut self, agent_id: &str, spoken: Spoken, draft: D) -> Telling<D> {
        let is_said = |mention: &Mention<D>| {
            mention.agent_id == agent_id && matches!(mention.stage, Stage::Said)
        };
        let at = match self.mentions.iter().position(is_said) {
            Some(at) => at,
            None => {
                self.said(agent_id, spoken);
                self.mentions.len() - 1
            }
        };
        let mention = &mut self.mentions[at];
        mention.stage = Stage::Held(draft);
        match mention.call_id.clone() {
            Some(call_id) => mention.release(call_id),
            None => Telling::Nothing,
        }
    }

    /// Enters the end of a call that the agent tells of.
    ///
    /// One that `is_completed` was made of us for certain, so it is a call of the same tool even if its
    /// arguments are not told as they were: agents mask what they take for secrets.
    pub(super) fn ended(&mut self, agent_id: &str, is_completed: bool, draft: D) -> Telling<D> {
        let is_it = |mention: &Mention<D>| {
            let is_told = matches!(mention.stage, Stage::Held(_) | Stage::Told);
            mention.agent_id == agent_id && (is_told || mention.call_id.is_some())
        };
        let Some(at) = self.mentions.iter().position(is_it) else {
            return Telling::Own(None, Some(draft));
        };
        let Mention { agent_id, spoken, call_id, stage } = self.mentions.remove(at);
        let held = match stage {
            Stage::Held(held) => Some(held),
            _ => None,
        };
        // An equal call may have been taken for this one, and this one's is still to come.
        let is_twin = |other: &Mention<D>| other.call_id.is_some() && other.spoken == spoken;
        let has_twin = call_id.is_none() && self.mentions.iter().any(is_twin);
        let call_id = match has_twin {
            true => None,
            false => call_id.or_else(|| self.claim_any(&spoken.tool, is_completed)),
        };
        match (call_id, held) {
            (Some(call_id), held) => {
                Telling::Linked(Link { call_id, agent_call_id: agent_id }, held, Some(draft))
            }
            (None, Some(held)) if has_twin => {
                let stage = Stage::Ended(held, draft);
                self.mentions.push(Mention { agent_id, spoken, call_id: None, stage });
                Telling::Nothing
            }
            (None, held) => Telling::Own(held, Some(draft)),
        }
    }

    /// Ends the account: no call is made after it. Returns what is still held, which never reached us.
    pub(super) fn close(&mut self) -> Vec<D> {
        self.is_closed = true;
        let mentions = std::mem::take(&mut self.mentions).into_iter();
        let held = mentions.flat_map(|mention| match mention.stage {
            Stage::Held(draft) => vec![draft],
            Stage::Ended(call, result) => vec![call, result],
            Stage::Said | Stage::Told | Stage::Over => Vec::new(),
        });
        held.collect()
    }

    /// Refuses calls from now on. What the agent still tells is entered all the same.
    pub(super) fn refuse(&mut self) {
        self.is_closed = true;
    }

    /// Finds the call that a mention is about, and takes it off the list of those without one.
    fn claim(&mut self, agent_id: &str, spoken: &Spoken) -> Option<String> {
        let by_id = |made: &Made| made.model_id.as_deref() == Some(agent_id);
        let alike = |made: &Made| self.is_nameless(made) && made.spoken == *spoken;
        let at = self.made.iter().position(by_id).or_else(|| self.made.iter().position(alike))?;
        Some(self.made.remove(at).call_id)
    }

    /// Finds the oldest call of a tool whose arguments nobody recognises, if it was made for certain.
    fn claim_any(&mut self, tool: &str, is_made: bool) -> Option<String> {
        let of_tool = |made: &Made| self.is_nameless(made) && made.spoken.tool == tool;
        let at = self.made.iter().position(of_tool).filter(|_| is_made)?;
        Some(self.made.remove(at).call_id)
    }

    /// Tells whether no id says which mention a call belongs to.
    fn is_nameless(&self, made: &Made) -> bool {
        made.model_id.is_none() || self.ids == Ids::OfModel
    }
}

impl<D> Mention<D> {
    /// Takes what is held of a mention whose call is known.
    fn release(&mut self, call_id: String) -> Telling<D> {
        let link = Link { call_id, agent_call_id: self.agent_id.clone() };
        match std::mem::replace(&mut self.stage, Stage::Told) {
            Stage::Held(draft) => Telling::Linked(link, Some(draft), None),
            Stage::Ended(call, result) => {
                self.stage = Stage::Over;
                Telling::Linked(link, Some(call), Some(result))
            }
            stage => {
                self.stage = stage;
                Telling::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests;
