//! Project tasks: `cargo xtask test`.
fn main() {}
