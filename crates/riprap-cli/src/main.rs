//! The riprap command.
fn main() {}
