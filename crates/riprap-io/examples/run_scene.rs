//! Runs a scene file into a folder, with a line of progress every tenth of the run:
//!
//! ```sh
//! cargo run --release -p riprap-io --example run_scene -- examples/slope/scene.toml out/slope
//! ```

use riprap::simulation::Frame;
use riprap_io::run::{Event, Options, Phase, Run, Watch};
use riprap_io::scene_file::SceneFile;

/// Prints the progress of the run.
#[derive(Default)]
struct Lines {
    end: f64,
    tenths: u32,
}

impl Watch for Lines {
    fn step(&mut self, phase: Phase, frame: &Frame) {
        let tenths = (10.0 * frame.state.t / self.end) as u32;
        if tenths > self.tenths {
            self.tenths = tenths;
            println!("{phase:?}: t = {:.3} s, {} contacts", frame.state.t, frame.step.contacts);
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::PhaseStarted { end, .. } = event {
            *self = Lines { end, tenths: 0 };
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(scene), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("give a scene file and a folder for the results".into());
    };
    let scene = SceneFile::read(scene)?;
    let summary = Run::new(&scene, Options::new(out))?.execute(&mut Lines::default())?;
    println!("{} after {} s in {}", summary.ending.word(), summary.time, summary.folder.display());
    println!("{}", summary.report);
    for warning in &summary.warnings {
        println!("warning: {warning}");
    }
    Ok(())
}
