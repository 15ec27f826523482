//! Where and how a test failed.

/// Where and how a test failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StfError {
    /// A line that is no STF statement, or does not fit the program.
    #[error("line {line}: {message}")]
    Statement {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A counter, or the absence of packets, is not what the test expects.
    #[error("line {line}: {message}")]
    Check {
        /// Of the check, from 1.
        line: usize,
        /// What it is, and what was expected.
        message: String,
    },
    /// What came out is not what the test expects.
    #[error("line {line}: port {port}: {message}")]
    Unexpected {
        /// Of the expectation, from 1.
        line: usize,
        /// Where.
        port: u16,
        /// The difference, readable.
        message: String,
    },
}
