//! Data that the application has written and the peer has not acknowledged.

use crate::wire::stamp;
use narrows_common::prefetch::prefetch;
use narrows_common::{Packet, Time};
use narrows_traffic::{Content, ShortBytes};
use std::collections::VecDeque;

/// The stream from the first unacknowledged byte, as chunks.
#[derive(Debug)]
pub struct SendBuffer {
    chunks: VecDeque<Chunk>,
    end: u64,
}

#[derive(Debug)]
struct Chunk {
    start: u64,
    end: u64,
    /// `None` stands for zeros.
    bytes: Option<ShortBytes>,
}

impl SendBuffer {
    /// An empty buffer; the first byte written gets position `start`.
    pub fn new(start: u64) -> Self {
        SendBuffer { chunks: VecDeque::new(), end: start }
    }

    /// The position after the last byte written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Appends the application's data.
    pub fn write(&mut self, content: Content) {
        let (start, end) = (self.end, self.end + content.len());
        self.end = end;
        match (content, self.chunks.back_mut()) {
            (Content::Zeros(_), Some(last)) if last.bytes.is_none() => last.end = end,
            (Content::Zeros(_), _) => self.chunks.push_back(Chunk { start, end, bytes: None }),
            (Content::Bytes(bytes), _) => {
                self.chunks.push_back(Chunk { start, end, bytes: Some(bytes) });
            }
        }
    }

    /// Asks for the memory of the first chunk, which an ACK or a segment touches soon.
    pub fn prefetch(&self) {
        self.chunks.front().into_iter().for_each(prefetch);
    }

    /// Releases everything below `position`, which is acknowledged.
    pub fn release(&mut self, position: u64) {
        while self.chunks.front().is_some_and(|chunk| chunk.end <= position) {
            self.chunks.pop_front();
        }
    }

    /// Appends the payload `[start, start + len)`, at least one byte, to a packet. If the stream
    /// has zeros there, the payload starts with a stamp. Returns true if it carries a stamp.
    ///
    /// # Panics
    /// If the stream does not contain these bytes.
    pub fn emit(&self, start: u64, len: u32, flow: u32, now: Time, packet: &mut Packet) -> bool {
        if self.has_zeros(start, len) {
            stamp::append(len, flow, now, packet)
        } else {
            self.emit_chunks(start, start + u64::from(len), flow, now, packet)
        }
    }

    /// True if `[start, start + len)` is within the first chunk, and that is zeros: nearly always.
    #[inline]
    pub fn has_zeros(&self, start: u64, len: u32) -> bool {
        self.chunks.front().is_some_and(|first| {
            first.bytes.is_none() && first.start <= start && start + u64::from(len) <= first.end
        })
    }

    /// Like `emit`, for any number of chunks; a separate function, so that the loop has all
    /// registers.
    #[inline(never)]
    fn emit_chunks(&self, start: u64, end: u64, flow: u32, now: Time, packet: &mut Packet) -> bool {
        let mut at = start;
        let mut stamped = false;
        let first = self.chunks.partition_point(|chunk| chunk.end <= start);
        for chunk in self.chunks.range(first..) {
            if at >= end {
                break;
            }
            assert!(chunk.start <= at, "bytes from {at} on are no longer in the send buffer");
            let to = end.min(chunk.end);
            match &chunk.bytes {
                Some(bytes) => {
                    // Real bytes can't follow a length, so the zeros before them are written out.
                    let zeros = core::mem::take(&mut packet.zeros);
                    packet.data.resize(packet.data.len() + zeros as usize, 0);
                    let range = (at - chunk.start) as usize..(to - chunk.start) as usize;
                    packet.data.extend_from_slice(&bytes[range]);
                }
                None if at == start => {
                    stamped = stamp::append((to - at) as u32, flow, now, packet);
                }
                None => packet.zeros += (to - at) as u32,
            }
            at = to;
        }
        assert_eq!(at, end, "the send buffer does not reach that far");
        stamped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_may_span_bytes_and_zeros() {
        let mut buffer = SendBuffer::new(1);
        buffer.write(Content::Bytes(b"abcd"[..].into()));
        buffer.write(Content::Zeros(20));
        buffer.write(Content::Zeros(10));
        buffer.write(Content::Bytes(b"xyz"[..].into()));
        assert_eq!(buffer.end(), 38);
        let emit = |start, len| {
            let mut packet = Packet::default();
            let stamped = buffer.emit(start, len, 9, Time::ZERO, &mut packet);
            (packet, stamped)
        };
        let (packet, stamped) = emit(3, 5);
        assert_eq!((packet.data.as_slice(), packet.zeros, stamped), (&b"cd"[..], 3, false));
        let (packet, stamped) = emit(5, 32);
        assert!(stamped);
        assert_eq!((packet.data.len(), packet.zeros), (32, 0), "zeros before real bytes are real");
        assert_eq!(&packet.data[30..], b"xy");
        let (packet, stamped) = emit(5, 30);
        assert_eq!((packet.data.len(), packet.zeros, stamped), (16, 14, true));
    }

    #[test]
    fn acknowledged_chunks_are_let_go() {
        let mut buffer = SendBuffer::new(1);
        buffer.write(Content::Bytes(b"abcd"[..].into()));
        buffer.write(Content::Bytes(b"efgh"[..].into()));
        buffer.release(4);
        assert_eq!(buffer.chunks.len(), 2);
        buffer.release(5);
        assert_eq!(buffer.chunks.len(), 1);
        let mut packet = Packet::default();
        buffer.emit(6, 3, 1, Time::ZERO, &mut packet);
        assert_eq!(packet.data, b"fgh");
    }
}
