//! A run played on a terminal: the rows of a live run, a line about the playing below them, and keys.

use std::time::{Duration, Instant};

use signal_hook::consts::SIGTSTP;

use super::ears::{Ears, News};
use super::ending::Facts;
use super::keys::{Keys, Wish};
use super::player::{Due, Player};
use super::state::{Coming, State, help_rows};
use super::tale::{Place, Tale};
use super::voices::Moment;
use crate::live::Keyboard;

/// So often the clock on the screen is renewed.
const TICK: Duration = Duration::from_millis(80);

/// The terminal while a run is played on it.
struct Stage<'s, 'a> {
    tale: &'s mut Tale<'a>,
    player: Player,
    facts: &'s Facts,
    is_followed: bool,
    keyboard: Option<Keyboard>,
    keys: Keys,
    has_help: bool,
    began: Instant,
}

/// Plays until the run is over or somebody has seen enough, and tells whether that came first.
pub(super) fn play(
    tale: &mut Tale<'_>,
    player: Player,
    facts: &Facts,
    is_followed: bool,
) -> anyhow::Result<bool> {
    let keyboard = Keyboard::take();
    let ears = Ears::new(keyboard.is_some())?;
    let keys = Keys::default();
    let began = Instant::now();
    let mut stage =
        Stage { tale, player, facts, is_followed, keyboard, keys, has_help: false, began };
    loop {
        let patience = match stage.show_what_is_due()? {
            Some(patience) => patience,
            None => return Ok(false),
        };
        stage.show_state()?;
        let mut wishes = Vec::new();
        let mut news = ears.next(patience);
        // Keys may come faster than a long run is told anew: all there are count at once.
        while let Some(News::Keys(bytes)) = &news {
            wishes.extend(stage.keys.take(bytes));
            news = ears.next(Duration::ZERO);
        }
        for same in wishes.chunk_by(|one, next| one == next && *one == Wish::Back) {
            match same {
                [Wish::Quit] => return Ok(stage.tale.next_at()?.is_some()),
                [Wish::Back, ..] => stage.step_back(same.len() as u64)?,
                others => others.iter().try_for_each(|wish| stage.grant(*wish))?,
            }
        }
        match news {
            Some(News::Suspend) => stage.suspend()?,
            Some(News::End) => return Ok(true),
            Some(News::Keys(_)) | None => {}
        }
    }
}

impl Stage<'_, '_> {
    /// Shows what is due, for no longer than a tick; returns how long nothing is, or nothing at all
    /// when the run is over.
    fn show_what_is_due(&mut self) -> anyhow::Result<Option<Duration>> {
        let until = Instant::now() + TICK;
        while let Some(at) = self.tale.next_at()? {
            match self.player.due(self.began.elapsed(), at) {
                Due::Now if Instant::now() >= until => return Ok(Some(Duration::ZERO)),
                Due::Now => {
                    self.tale.tell()?;
                    self.player.shown(at);
                }
                Due::In(wait) => return Ok(Some(wait.min(TICK))),
                Due::Paused => return Ok(Some(TICK)),
            }
        }
        let is_over = !self.is_followed || self.tale.place().end.is_some();
        Ok((!is_over || self.player.is_paused()).then_some(TICK))
    }

    fn grant(&mut self, wish: Wish) -> anyhow::Result<()> {
        let (now, next) = (self.began.elapsed(), self.tale.next_at()?);
        match wish {
            Wish::Toggle => self.player.set_paused(!self.player.is_paused(), now, next),
            Wish::Faster => self.player.set_pace(self.player.pace().faster(), now, next),
            Wish::Slower => self.player.set_pace(self.player.pace().slower(), now, next),
            Wish::Help => self.has_help = !self.has_help,
            Wish::Back => self.step_back(1)?,
            Wish::Quit => {}
            Wish::Forward => {
                self.player.set_paused(true, now, next);
                self.tale.tell()?;
                self.arrive()?;
            }
            Wish::NextStep => {
                self.tale.tell_until(|_, next| next.begins())?;
                self.tale.tell()?;
                self.arrive()?;
            }
            Wish::PreviousStep => self.begin_anew(self.tale.beginning_before())?,
            Wish::Start => self.begin_anew(0)?,
            Wish::End => self.jump_until(|_, _| false)?,
            Wish::Seq(seq) => {
                // A number that is too high leads to the end.
                let there = self.tale.seq_from(seq)?;
                self.jump_until(|place, _| place.told > 0 && Some(place.seq) == there)?;
            }
        }
        Ok(())
    }

    fn step_back(&mut self, events: u64) -> anyhow::Result<()> {
        let next = self.tale.next_at()?;
        self.player.set_paused(true, self.began.elapsed(), next);
        self.begin_anew(self.tale.place().told.saturating_sub(events))
    }

    /// Shows the run anew up to where so many moments had been told.
    fn begin_anew(&mut self, told: u64) -> anyhow::Result<()> {
        self.jump_until(|place, _| place.told >= told)
    }

    fn jump_until(&mut self, is_there: impl Fn(&Place, &Moment) -> bool) -> anyhow::Result<()> {
        let Some(terminal) = self.tale.watch().terminal() else { return Ok(()) };
        terminal.renew(false, || {
            self.tale.rewind()?;
            self.tale.tell_until(is_there)?;
            self.arrive()?;
            self.show_state()
        })
    }

    /// Goes on from where a jump led. At the end it stays, so that there is a way back.
    fn arrive(&mut self) -> anyhow::Result<()> {
        let (now, next) = (self.began.elapsed(), self.tale.next_at()?);
        self.player.jumped(now, self.tale.place().at);
        if next.is_none() {
            self.player.set_paused(true, now, next);
        }
        Ok(())
    }

    fn suspend(&mut self) -> anyhow::Result<()> {
        let (now, next) = (self.began.elapsed(), self.tale.next_at()?);
        let was_paused = self.player.is_paused();
        self.player.set_paused(true, now, next);
        let had_keys = self.keyboard.take().is_some();
        self.tale.watch().pause(|| {
            // Comes back when the program is gone on with.
            let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
        });
        self.keyboard = if had_keys { Keyboard::take() } else { None };
        self.player.set_paused(was_paused, self.began.elapsed(), next);
        Ok(())
    }

    /// Sets the clock, and says below the steps where the run is.
    fn show_state(&mut self) -> anyhow::Result<()> {
        let next = self.tale.next_at()?;
        let clock = self.player.clock(self.began.elapsed(), next);
        self.tale.set_clock(clock);
        let state = State {
            place: self.tale.place(),
            last_seq: self.facts.last_seq,
            first: self.tale.first(),
            last: self.facts.last_at,
            clock,
            pace: self.player.pace(),
            is_paused: self.player.is_paused(),
            coming: self.coming(next),
            number: self.keys.number(),
            has_keys: self.keyboard.is_some(),
        };
        let mut rows = vec![state.row()];
        rows.extend(self.has_help.then(help_rows).into_iter().flatten());
        if let Some(terminal) = self.tale.watch().terminal() {
            terminal.set_below(rows);
        }
        Ok(())
    }

    fn coming(&self, next: Option<i64>) -> Coming {
        match next.map(|next| self.player.due(self.began.elapsed(), next)) {
            Some(Due::In(wait)) => Coming::In(wait),
            Some(Due::Now | Due::Paused) => Coming::Soon,
            None if self.is_followed && self.tale.place().end.is_none() => Coming::Unknown,
            None => Coming::Nothing,
        }
    }
}
