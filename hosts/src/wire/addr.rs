//! Addresses of hosts.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::str::FromStr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An Ethernet address, written `02:00:00:00:00:01`.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The broadcast address.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// The address in the first six of `bytes`.
    pub(crate) fn from_slice(bytes: &[u8]) -> Self {
        Mac([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]])
    }
}

/// A text that is not an Ethernet address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no MAC address; expected six hexadecimal bytes like 02:00:00:00:00:01")]
pub struct MacError(String);

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let error = || MacError(text.to_owned());
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(error)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| error())?;
        }
        if parts.next().is_some() { Err(error()) } else { Ok(Mac(bytes)) }
    }
}

impl TryFrom<String> for Mac {
    type Error = MacError;
    fn try_from(text: String) -> Result<Self, MacError> {
        text.parse()
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> String {
        mac.to_string()
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// One end of a connection.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The host's address.
    pub ip: IpAddr,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.ip, self.port).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_address_is_read_as_it_is_written() {
        let mac: Mac = "02:00:00:00:ab:01".parse().unwrap();
        assert_eq!(mac, Mac([2, 0, 0, 0, 0xab, 1]));
        assert_eq!(mac.to_string(), "02:00:00:00:ab:01");
        for bad in
            ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "2:0:0:0:0:1", "zz:00:00:00:00:01"]
        {
            assert!(bad.parse::<Mac>().is_err(), "{bad}");
        }
    }
}
