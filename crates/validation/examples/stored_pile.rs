//! Regenerates `data/block.state`, the stored pile of the benchmarks: `cargo run --release -p riprap-validation --example stored_pile`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (text, fastest) = validation::scenes::bulk::settle_block();
    println!("fastest stone [m/s]  {fastest:.1e}");
    if fastest >= 1e-2 {
        return Err("the stones have not come to rest; the file is unchanged".into());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/block.state");
    std::fs::write(path, text)?;
    println!("written to {path}");
    Ok(())
}
