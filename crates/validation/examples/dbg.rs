//! x
use validation::slider_crank::*;
fn main() {
    let reference = Motion::read(include_str!("../data/slider-crank/sc_paper1_traj.csv"));
    for model in Model::ALL {
        for dt in [1e-4, 5e-5, 2e-5, 1e-5, 2e-6, 1e-6] {
            let t0 = std::time::Instant::now();
            let m = run(model, &Parameters::PAPER, dt, TWO_REVOLUTIONS);
            let ang = m.angles.iter().fold(0.0f64, |x, a| x.max(a[2].abs()));
            println!(
                "{} {dt:.0e} err {:.2e} pen/c {:.4} slider angle {:.1e} loop {:.1e} impacts {} E {:.4?} unconv {} crank {:.4} {:.2}s",
                model.letter(),
                m.height_error(&reference, TWO_REVOLUTIONS),
                m.penetration / CLEARANCE,
                ang,
                m.loop_residual,
                m.impacts,
                m.energy,
                m.unconverged,
                m.angles.last().unwrap()[0],
                t0.elapsed().as_secs_f64()
            );
        }
    }
}
