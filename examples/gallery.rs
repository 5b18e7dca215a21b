//! The gallery: each entry is a scene file, a Python program and a Rust program that give the same results bit for bit. Here
//! the Rust programs are modules, so that a test can compare them with the scene files; `cargo run --release --example NAME`
//! runs one.

#[path = "arch/main.rs"]
pub mod arch;
#[path = "bouncing-ball/main.rs"]
pub mod bouncing_ball;
#[path = "bucket/main.rs"]
pub mod bucket;
#[path = "cantilever/main.rs"]
pub mod cantilever;
#[path = "crane/main.rs"]
pub mod crane;
#[path = "four-bar/main.rs"]
pub mod four_bar;
#[path = "granular-chains/main.rs"]
pub mod granular_chains;
#[path = "pour/main.rs"]
pub mod pour;
#[path = "slider-crank/main.rs"]
pub mod slider_crank;
#[path = "slope/main.rs"]
pub mod slope;
#[path = "tamping/main.rs"]
pub mod tamping;
#[path = "tamping-unit/main.rs"]
pub mod tamping_unit;
#[path = "tumbler/main.rs"]
pub mod tumbler;
#[path = "wheel/main.rs"]
pub mod wheel;
#[path = "wrecking-ball/main.rs"]
pub mod wrecking_ball;
