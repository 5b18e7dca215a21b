//! x
#[test]
fn small() { let c = validation::cases::find("coupling").unwrap(); let t=std::time::Instant::now(); let r=(c.run)(validation::Effort::Small); for k in &r.list { println!("{} {:.3e} ref {:.1e} {}", k.quantity,k.value,k.reference,k.pass); } println!("{:?}",t.elapsed()); }
