//! Why a flow's configuration is invalid.

use crate::api::ParameterError;
use crate::wire::addr::Endpoint;
use core::net::IpAddr;
use narrows_traffic::AppError;

/// Why a flow's configuration is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum FlowError {
    #[error("flow {flow}: {error}")]
    App { flow: u32, error: AppError },
    #[error("flow {flow}: {field} = \"{value}\" is unknown; expected one of {expected}")]
    UnknownName { flow: u32, field: &'static str, value: String, expected: String },
    #[error("flow {flow}: {field} = {value} is out of range; expected {min} to {max}")]
    OutOfRange { flow: u32, field: &'static str, value: u64, min: u64, max: u64 },
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error("flow {flow}: {what} needs {need}, but {field} = {value}")]
    Unmet {
        flow: u32,
        what: &'static str,
        need: &'static str,
        field: &'static str,
        value: &'static str,
    },
    #[error("flow {flow}: {field} is {value}; expected this host's address {expected}")]
    NotThisHost { flow: u32, field: &'static str, value: IpAddr, expected: IpAddr },
    #[error("flow {flow}: {source_end} to {destination}; expected addresses of one IP version")]
    IpVersions { flow: u32, source_end: Endpoint, destination: Endpoint },
    #[error(
        "flow {flow}: {source_end} to {destination} is used by flow {by}; expected another port"
    )]
    Taken { flow: u32, source_end: Endpoint, destination: Endpoint, by: u32 },
}

pub(crate) fn in_range(
    flow: u32,
    field: &'static str,
    value: u64,
    min: u64,
    max: u64,
) -> Result<(), FlowError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(FlowError::OutOfRange { flow, field, value, min, max })
    }
}

pub(crate) fn by_name<T>(
    flow: u32,
    field: &'static str,
    value: &str,
    list: &'static [T],
    name: impl Fn(&T) -> &'static str,
) -> Result<&'static T, FlowError> {
    list.iter().find(|item| name(item) == value).ok_or_else(|| FlowError::UnknownName {
        flow,
        field,
        value: value.to_owned(),
        expected: list.iter().map(name).collect::<Vec<_>>().join(", "),
    })
}
