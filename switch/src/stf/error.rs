//! The location and the cause of a test failure.

/// The location and the cause of a test failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StfError {
    /// A line is not an STF statement, or does not fit the program.
    #[error("line {line}: {message}")]
    Statement {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A counter, or the absence of packets, differs from what the test expects.
    #[error("line {line}: {message}")]
    Check {
        /// The check's line, from 1.
        line: usize,
        /// The actual and the expected value.
        message: String,
    },
    /// A sent packet differs from what the test expects.
    #[error("line {line}: port {port}: {message}")]
    Unexpected {
        /// The expectation's line, from 1.
        line: usize,
        /// The output port.
        port: u16,
        /// The difference, readable.
        message: String,
    },
}
