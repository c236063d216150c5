//! Agents at work: a question goes out, what comes back becomes events while it comes.
