//! What the checks found, each with the place to look at.

/// What all checks found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    failures: Vec<Finding>,
    warnings: Vec<Finding>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    line: usize,
    text: String,
}

impl Report {
    /// Notes something that must be put right. The text says what is wrong and what to do.
    pub(crate) fn fail(&mut self, file: &str, line: usize, text: impl Into<String>) {
        self.failures.push(Finding { file: file.to_owned(), line, text: text.into() });
    }

    /// Notes something that a person may want to look at.
    pub(crate) fn warn(&mut self, file: &str, line: usize, text: impl Into<String>) {
        self.warnings.push(Finding { file: file.to_owned(), line, text: text.into() });
    }

    /// Tells whether nothing must be put right.
    pub(crate) fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }

    /// Prints warnings, then failures, each as `file:line: text`, and a closing line.
    pub(crate) fn print(&mut self) {
        self.warnings.sort();
        self.failures.sort();
        for Finding { file, line, text } in &self.warnings {
            println!("{file}:{line}: warning: {text}");
        }
        for Finding { file, line, text } in &self.failures {
            println!("{file}:{line}: {text}");
        }
        match self.failures.len() {
            0 => println!("tidy"),
            1 => println!("1 thing to put right"),
            n => println!("{n} things to put right"),
        }
    }

    /// Returns the failures as printed, for tests.
    #[cfg(test)]
    pub(crate) fn failures(&self) -> Vec<String> {
        let line = |f: &Finding| format!("{}:{}: {}", f.file, f.line, f.text);
        self.failures.iter().map(line).collect()
    }
}
