//! A byte stream over a socket of another TCP.

use crate::app::stream::Stream;
use narrows_traffic::Content;
use std::collections::VecDeque;

/// Bytes between a user and a socket, in both directions.
#[derive(Debug, Default)]
pub struct SocketStream {
    pub(super) is_open: bool,
    is_closing: bool,
    is_shut_down: bool,
    to_send: VecDeque<Content>,
    to_send_bytes: u64,
    /// Bytes accepted by the socket.
    pub(super) sent_bytes: u64,
    /// Bytes acknowledged by the peer.
    pub(super) acked_bytes: u64,
    /// Whether to keep received bytes, or only their count.
    keeps_content: bool,
    arrived: VecDeque<u8>,
    unread_bytes: u64,
    pub(super) delivered_bytes: u64,
    has_peer_closed: bool,
}

impl SocketStream {
    /// A stream without a connection.
    pub fn new(keeps_content: bool) -> Self {
        SocketStream { keeps_content, ..SocketStream::default() }
    }

    /// The next bytes for the socket, at most `limit_bytes`.
    pub fn poll_send(&self, limit_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(limit_bytes.min(self.to_send_bytes as usize));
        for content in &self.to_send {
            let room = limit_bytes - bytes.len();
            match content {
                Content::Zeros(len) => {
                    let more = usize::try_from(*len).unwrap_or(room).min(room);
                    bytes.resize(bytes.len() + more, 0);
                }
                Content::Bytes(own) => bytes.extend_from_slice(&own[..own.len().min(room)]),
            }
            if bytes.len() == limit_bytes {
                break;
            }
        }
        bytes
    }

    /// The socket accepted the first `bytes` of them.
    pub fn handle_sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
        self.to_send_bytes -= bytes;
        let mut left = bytes;
        while left > 0 {
            let Some(content) = self.to_send.front_mut() else { break };
            let taken = content.len().min(left);
            left -= taken;
            match content {
                Content::Zeros(len) => *len -= taken,
                Content::Bytes(own) => drop(own.drain(..taken as usize)),
            }
            if content.is_empty() {
                self.to_send.pop_front();
            }
        }
    }

    /// The socket's sending direction was shut down.
    pub fn handle_shut_down(&mut self) {
        self.is_shut_down = true;
    }

    /// These bytes arrived in order; none if the peer has finished writing.
    pub fn handle_arrived(&mut self, bytes: &[u8]) {
        self.has_peer_closed |= bytes.is_empty();
        self.delivered_bytes += bytes.len() as u64;
        self.unread_bytes += bytes.len() as u64;
        if self.keeps_content {
            self.arrived.extend(bytes);
        }
    }

    /// True if there are bytes for the socket.
    pub fn has_to_send(&self) -> bool {
        self.to_send_bytes > 0
    }

    /// True if the user has closed and the socket has accepted everything.
    pub fn is_sent_to_end(&self) -> bool {
        self.is_closing && self.to_send_bytes == 0
    }

    /// True if the socket's sending direction must be shut down.
    pub fn must_shut_down(&self) -> bool {
        self.is_sent_to_end() && !self.is_shut_down
    }

    /// Bytes accepted by the socket so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }
}

impl Stream for SocketStream {
    fn is_open(&self) -> bool {
        self.is_open
    }

    fn write(&mut self, content: Content) {
        if !self.is_closing && !content.is_empty() {
            self.to_send_bytes += content.len();
            self.to_send.push_back(content);
        }
    }

    fn close(&mut self) {
        self.is_closing = true;
    }

    fn unacked_bytes(&self) -> u64 {
        self.to_send_bytes + self.sent_bytes.saturating_sub(self.acked_bytes)
    }

    fn readable_bytes(&self) -> u64 {
        self.unread_bytes
    }

    fn read(&mut self, limit_bytes: u64, out: Option<&mut Vec<u8>>) -> u64 {
        let taken = self.unread_bytes.min(limit_bytes);
        self.unread_bytes -= taken;
        if self.keeps_content {
            let content = self.arrived.drain(..taken as usize);
            if let Some(out) = out {
                out.extend(content);
            }
        }
        taken
    }

    fn is_read_to_end(&self) -> bool {
        self.has_peer_closed && self.unread_bytes == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_socket_did_not_take_is_sent_again() {
        let mut stream = SocketStream::new(true);
        stream.write(Content::Bytes(b"abc"[..].into()));
        stream.write(Content::Zeros(4));
        stream.write(Content::Bytes(b"de"[..].into()));
        stream.close();
        stream.write(Content::Zeros(9));
        assert_eq!(stream.poll_send(5), b"abc\0\0");
        stream.handle_sent(2);
        assert_eq!(stream.poll_send(100), b"c\0\0\0\0de");
        assert_eq!((stream.unacked_bytes(), stream.is_sent_to_end()), (9, false));
        stream.handle_sent(7);
        stream.acked_bytes = 4;
        assert_eq!((stream.unacked_bytes(), stream.is_sent_to_end()), (5, true));
        assert!(stream.poll_send(100).is_empty());
    }

    #[test]
    fn what_arrives_is_read_once() {
        let mut stream = SocketStream::new(true);
        stream.handle_arrived(b"abcd");
        let mut out = vec![];
        assert_eq!(stream.read(3, Some(&mut out)), 3);
        stream.handle_arrived(b"e");
        stream.handle_arrived(b"");
        assert!(!stream.is_read_to_end());
        assert_eq!(stream.read(9, Some(&mut out)), 2);
        assert_eq!((out.as_slice(), stream.is_read_to_end()), (&b"abcde"[..], true));
    }
}
