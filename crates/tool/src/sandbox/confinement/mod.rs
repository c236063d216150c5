//! What keeps a program, and all that it starts, in the root: Landlock, where the kernel has it.
//!
//! A program may do anything below the root and in a scratch directory of its own; it may read and run
//! what the system has for everyone. Of root's powers it keeps those over files. It is no jail: the
//! network stays open, and names, modes, owners and times of files can be seen (and, where the user
//! may, changed) anywhere, as can limits and priorities of programs and shared memory of the old
//! kind, because Landlock does not speak of them.

#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod powers;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod system;

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use quipu_process::Prepare;

/// What a kernel can do to keep a program in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// Landlock, in one of its versions.
    Landlock {
        /// Which: a higher one leaves less open.
        abi: i32,
    },
    /// Nothing.
    Unavailable {
        /// Why not.
        why: String,
    },
}

/// What versions of Landlock leave open: the first one that closes it, and what it is.
const GAPS: [(i32, &str); 4] = [
    (3, "emptying files outside"),
    (5, "device controls"),
    (6, "signals and abstract sockets to other programs"),
    (9, "named sockets of other programs"),
];
/// The first version that keeps the content of files outside what it was.
const KEEPS_FILES: i32 = 3;
/// The first version that keeps signals in.
#[cfg(target_os = "linux")]
const KEEPS_SIGNALS: i32 = 6;

/// What is done to the thread that starts a program, and what is done after its end.
pub(crate) struct Hold {
    /// What is done to the thread.
    pub(crate) prepare: Option<Prepare>,
    #[cfg(target_os = "linux")]
    watch: leftovers::Watch,
}

impl Confinement {
    /// Returns what this kernel can do, as it turned out when it was first tried.
    pub(crate) fn of_this_kernel() -> Confinement {
        static PROBED: OnceLock<Confinement> = OnceLock::new();
        PROBED.get_or_init(probe).clone()
    }

    /// Tells whether a program is kept from reading and changing files outside.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Confinement::Landlock { abi } if *abi >= KEEPS_FILES)
    }

    /// Tells whether a program is kept in at all.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self, Confinement::Landlock { .. })
    }

    /// Says what a program can do, in one or two sentences.
    pub(crate) fn describe(&self) -> String {
        match self {
            Confinement::Landlock { abi } => {
                let gaps: Vec<&str> =
                    GAPS.iter().filter(|(from, _)| abi < from).map(|(_, gap)| *gap).collect();
                let open = if gaps.is_empty() {
                    String::new()
                } else {
                    format!(", nor are {} (Landlock ABI {abi})", gaps.join(", "))
                };
                format!(
                    "Commands are confined to the working directory by Landlock; beyond it they can \
                     only read and run what the system has for everyone. $TMPDIR and $HOME are private \
                     directories that last as long as the command. The network is not restricted{open}; \
                     modes, owners and times of files and the limits of programs are the user's to change \
                     anywhere."
                )
            }
            Confinement::Unavailable { why } => format!(
                "Commands are NOT confined: {why}. They can reach every file that the user can, and \
                 the network."
            ),
        }
    }

    /// Returns what keeps one program in, and all that it starts.
    pub(crate) fn hold(&self, root: File, scratch: &Path) -> Hold {
        match self {
            Confinement::Landlock { abi } => Hold::of(root, scratch, *abi),
            Confinement::Unavailable { .. } => Hold::none(),
        }
    }
}

impl Hold {
    /// Ends what the program left running in groups of its own, as far as it can be found.
    pub(crate) fn end_leftovers(&self) {
        #[cfg(target_os = "linux")]
        self.watch.end_leftovers();
    }

    fn none() -> Hold {
        Hold {
            prepare: None,
            #[cfg(target_os = "linux")]
            watch: leftovers::Watch::default(),
        }
    }

    #[cfg(target_os = "linux")]
    fn of(root: File, scratch: &Path, abi: i32) -> Hold {
        let (scratch, watch) = (scratch.to_owned(), leftovers::Watch::default());
        let on_duty = watch.clone();
        let prepare = Prepare::new(move || {
            rules::restrict(&root, &scratch)?;
            // Before that, whoever is in the domain could signal everybody else too.
            if abi >= KEEPS_SIGNALS { on_duty.stay() } else { Ok(()) }
        });
        Hold { prepare: Some(prepare), watch }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_root: File, _scratch: &Path, _abi: i32) -> Hold {
        Hold::none()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.end_leftovers();
    }
}

#[cfg(target_os = "linux")]
fn probe() -> Confinement {
    // Only trying tells; a thread that is restricted stays so, hence one of its own.
    match std::thread::spawn(rules::try_out).join() {
        Ok(Ok(abi)) => Confinement::Landlock { abi },
        Ok(Err(cause)) => Confinement::Unavailable { why: cause.to_string() },
        Err(_) => Confinement::Unavailable { why: "trying Landlock out broke down".to_owned() },
    }
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Confinement {
    Confinement::Unavailable { why: "this system has no Landlock".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_leaves_open_is_said() {
        let all = Confinement::Landlock { abi: 9 }.describe();
        assert!(all.contains("The network is not restricted; modes"), "{all}");
        let some = Confinement::Landlock { abi: 5 }.describe();
        assert!(some.contains("signals and abstract sockets"), "{some}");
        assert!(some.contains("ABI 5") && !some.contains("emptying"), "{some}");
        assert!(!Confinement::Landlock { abi: 2 }.is_whole());
        let none = Confinement::Unavailable { why: "no Landlock".to_owned() }.describe();
        assert!(none.contains("NOT confined: no Landlock"), "{none}");
    }
}
