//! A program under the recorder, from the inside. What a shell sees of it is tested with the command.
