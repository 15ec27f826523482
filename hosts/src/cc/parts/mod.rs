//! Parts that several variants share.

pub mod based_window;
pub mod hystart;
pub mod hystart_plus;
pub(crate) mod period_max;
pub(crate) mod rates;
pub mod round_trips;
pub mod window;
