//! From a scene built in Rust to files: frames for ParaView and a table as CSV.
//!
//! ```sh
//! cargo run --release -p riprap-io --example write_files -- out/by-hand
//! ```

use std::path::{Path, PathBuf};

use riprap::prelude::*;
use riprap_io::output::{Snapshot, Surfaces};
use riprap_io::table::{Column, TableWriter};
use riprap_io::vtk::Pvd;

/// Writes a frame and a row every few steps.
struct Files {
    folder: PathBuf,
    every: u64,
    surfaces: Surfaces,
    index: Pvd,
    table: TableWriter,
    ball: Body,
}

impl Files {
    fn create(folder: &Path, scene: &Scene, ball: Body) -> Result<Files, riprap_io::Error> {
        let columns = [
            Column::new("time", "s"),
            Column::new("height", "m"),
            Column::new("kinetic_energy", "J"),
            Column::new("force_on_ball", "N"),
        ];
        Ok(Files {
            folder: folder.to_path_buf(),
            every: 10,
            surfaces: Surfaces::new(scene),
            index: Pvd::new(folder.join("run.pvd")),
            table: TableWriter::create(folder.join("series.csv"), &columns)?,
            ball,
        })
    }

    fn write(&mut self, frame: &Frame) -> Result<(), riprap_io::Error> {
        let (t, step) = (frame.state.t, frame.state.step);
        let height = frame.scene.shape_pose(frame.state, self.ball).position.z;
        let force = frame.contact_force(self.ball).z;
        self.table.row(&[t, height, frame.balance().kinetic, force])?;

        let snapshot = Snapshot::of(frame);
        let surfaces = format!("surfaces-{step:06}.vtp");
        self.surfaces.bodies(&snapshot).write(&self.folder.join(&surfaces))?;
        self.index.add(t, "surfaces", &surfaces)?;
        let contacts = format!("contacts-{step:06}.vtp");
        snapshot.contacts().write(&self.folder.join(&contacts))?;
        self.index.add(t, "contacts", &contacts)
    }
}

impl Observer for Files {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if frame.state.step.is_multiple_of(self.every) {
            self.write(frame)?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "out/by-hand".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;

    let rubber = Material::new("rubber").density(1100.0).friction(0.8).restitution(0.7);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rubber);
    let ball = BodyDescription::new(Shape::sphere(0.1)?, &rubber).at([0.0, 0.0, 1.0]);
    let ball = scene.add(ball, &rubber);
    let scene = scene.build()?;

    let mut files = Files::create(folder, &scene, ball)?;
    let mut run = Simulation::new(scene, MoreauJean::new(1e-3))?;
    let report = run.until(1.0, &mut files)?;
    println!("{report}");
    println!("open {} in ParaView", folder.join("run.pvd").display());
    Ok(())
}
