//! Congestion control: one file per variant, and one list.
//!
//! A variant owns its window and gets events through hooks that do nothing by default. Loss
//! detection and repair belong to [`crate::recovery`], which a flow selects separately. Windows are
//! integers in bytes. To add a variant, write a file that ends in a [`Variant`], and add a line to
//! [`VARIANTS`].

pub mod aimd_fc;
pub mod aimd_fc_plus;
pub mod app_tcp;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod circuit;
pub mod compound;
pub mod control;
pub mod cubic;
pub mod dctcp;
pub mod hstcp;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod jersey;
pub mod ledbat;
pub mod new_aimd;
pub mod ns2;
pub mod parts;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

pub use control::{CloneBox, CongestionControl, Setup, Variant};

/// Every variant.
pub const VARIANTS: &[Variant] = &[
    reno::VARIANT,
    aimd_fc::VARIANT,
    aimd_fc_plus::VARIANT,
    new_aimd::VARIANT,
    cubic::VARIANT,
    scalable::VARIANT,
    hstcp::VARIANT,
    westwood::VARIANT,
    veno::VARIANT,
    bic::VARIANT,
    htcp::VARIANT,
    hybla::VARIANT,
    illinois::VARIANT,
    yeah::VARIANT,
    vegas::VARIANT,
    ns2::vegas::VARIANT,
    ns2::rate_based_pacing::VEGAS_VARIANT,
    ns2::rate_based_pacing::RENO_VARIANT,
    app_tcp::VARIANT,
    circuit::VARIANT,
    compound::VARIANT,
    ledbat::VARIANT,
    jersey::VARIANT,
    bbr::VARIANT,
    bbr3::VARIANT,
    dctcp::VARIANT,
];
