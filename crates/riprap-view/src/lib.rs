//! Shows runs of riprap: a viewer in the browser, pictures and videos without a screen, plots of the series, reports and
//! comparisons.
//!
//! [`source`] answers questions about a run for the viewer, [`server`] over HTTP and [`page`] in a file to share. [`picture`] is a ray tracer for
//! plain geometry and for frames of run files, [`video`] writes videos. [`figure`] draws line plots, [`plot`] those of a run. [`report`] puts
//! everything about a run on one page, [`compare`] finds the differences of two runs.

pub mod compare;
pub mod figure;
mod files;
mod html;
mod packed;
pub mod page;
pub mod picture;
pub mod plot;
pub mod report;
pub mod series;
pub mod server;
pub mod source;
pub mod video;
mod wire;
