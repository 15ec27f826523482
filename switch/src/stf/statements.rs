//! Statements of p4c's grammar on packets to send, packets expected, and time.

use super::error::StfError;
use super::expectation::{Expectation, difference, hex};
use super::runner::Runner;
use narrows_common::{Duration, Packet};

impl Runner {
    pub(super) fn statement(
        &mut self,
        line: usize,
        command: &str,
        rest: &str,
    ) -> Result<(), String> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let name = words.first().copied().unwrap_or("");
        match command {
            "packet" => {
                let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let port = port.parse().map_err(|_| format!("'{port}': expected a port"))?;
                self.packet(port, data)
            }
            "expect" => {
                let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let port = port.parse().map_err(|_| format!("'{port}': expected a port"))?;
                let all: String = data.split_whitespace().collect();
                let exact = all.ends_with('$');
                let digits = all.trim_end_matches('$').to_uppercase();
                let any = all.is_empty();
                let expectation = Expectation { line, digits, exact, any };
                self.expected.entry(port).or_default().push(expectation);
                Ok(())
            }
            "no_packet" => {
                if self.answers > 0 {
                    let message = format!("{} packets came out, none should", self.answers);
                    self.differences.push(StfError::Check { line, message });
                }
                Ok(())
            }
            "wait" => {
                self.now += Duration::from_secs(1);
                self.switch.handle_timeout(self.now);
                self.collect();
                Ok(())
            }
            "remove" => self.remove(name),
            "add" => self.add(rest),
            "setdefault" => self.set_default(rest),
            "check_counter" => self.check_counter(line, rest),
            _ => self.command(line, command, &words),
        }
    }

    pub(super) fn packet(&mut self, port: u16, data: &str) -> Result<(), String> {
        let digits: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        let bytes = bytes.ok_or("expected pairs of hexadecimal digits")?;
        self.now += Duration::from_ms(1);
        self.switch.handle_packet(self.now, port, Packet::from_bytes(&bytes).into());
        self.answers = 0;
        self.collect();
        Ok(())
    }

    pub(super) fn collect(&mut self) {
        while let Some(sent) = self.switch.poll_transmit() {
            self.answers += 1;
            self.got.entry(sent.port).or_default().push(sent.packet.to_bytes());
        }
    }

    pub(super) fn compare(&self) -> Vec<StfError> {
        let mut differences = vec![];
        for (&port, expected) in &self.expected {
            let got = self.got.get(&port).map_or(&[][..], Vec::as_slice);
            for (i, expectation) in expected.iter().enumerate() {
                let message = match got.get(i) {
                    None => Some(format!("packet {i} did not come; {} came", got.len())),
                    Some(bytes) => difference(expectation, bytes),
                };
                let line = expectation.line;
                differences.extend(message.map(|message| {
                    let message = format!("packet {i}: {message}");
                    StfError::Unexpected { line, port, message }
                }));
            }
            if let (Some(extra), Some(last)) = (got.get(expected.len()), expected.last()) {
                let message =
                    format!("{} packets too many: {}", got.len() - expected.len(), hex(extra));
                differences.push(StfError::Unexpected { line: last.line, port, message });
            }
        }
        differences
    }
}
