//! Files: scenes in, frames and tables out.
