//! A byte stream as its application sees it.

use narrows_traffic::Content;
use narrows_traffic::message::{HEADER_BYTES, Header};

/// A connection as its user sees it.
pub trait Stream {
    /// True once the handshake is complete.
    fn is_open(&self) -> bool;
    /// Writes; ignored after [`Stream::close`].
    fn write(&mut self, content: Content);
    /// Finishes writing.
    fn close(&mut self);
    /// Bytes written and not yet acknowledged.
    fn unacked_bytes(&self) -> u64;
    /// Bytes ready to read.
    fn readable_bytes(&self) -> u64;
    /// Reads at most `limit_bytes`, and appends them to `out` if the stream keeps content. Returns
    /// their number.
    fn read(&mut self, limit_bytes: u64, out: Option<&mut Vec<u8>>) -> u64;
    /// True if the peer has closed and everything was read.
    fn is_read_to_end(&self) -> bool;

    /// Writes a message: its header, and zeros up to its length.
    fn write_message(&mut self, header: &Header) {
        self.write(Content::Bytes(header.emit().into()));
        self.write(Content::Zeros(u64::from(header.length_bytes - HEADER_BYTES)));
    }
}
