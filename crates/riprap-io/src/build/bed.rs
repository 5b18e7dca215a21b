//! Settled beds in files. A bed settles once; scenes with the same grains, walls and held tools reuse it, independent of the
//! run that follows.

use std::fmt::Write;
use std::path::Path;

use riprap::math::{Pose, Twist};
use riprap::scene::{Scene, State, WarmContact};
use riprap::simulation::RunReport;
use serde::{Deserialize, Serialize};

use super::{Settled, Settling};
use crate::error::{Error, Place};
use crate::scene_file::{
    BodyKind, OnUnconverged, SceneFile, StartTime, fingerprint, first_difference,
};
use crate::sealed::{self, Kind};

const KIND: Kind = Kind {
    magic: *b"riprapBD",
    layout: 2,
    name: "settled bed",
    advice: "remove the file, or let the grains settle again",
};

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Bed<'a> {
    /// What determines the bed: [`Settling::identity`].
    scene: std::borrow::Cow<'a, str>,
    /// For the settled grains, group by group.
    q: Vec<Pose>,
    v: Vec<Twist>,
    warm_start: Vec<WarmContact>,
    calm: bool,
    time: f64,
    report: RunReport,
}

impl Settled {
    /// SHA-256 of the positions, velocities and contacts of the grains, without timings: the same for the same bed on any machine.
    pub fn hash(&self) -> String {
        let State { q, v, warm_start, .. } = &self.state;
        sealed::sha256(&postcard::to_stdvec(&(q, v, warm_start)).unwrap_or_default())
    }
}

impl Settling {
    /// Everything that determines how the grains come to rest, as text: the parts of the scene that affect settling, and the
    /// initial poses of the tools. Scenes that differ only in a force or a motion share one bed.
    pub fn identity(&self, file: &SceneFile) -> String {
        let mut scene = file.clone();
        scene.title = None;
        scene.run.until = 0.0;
        scene.run.output_every = 0.0;
        scene.run.series_every = 0.0;
        scene.run.frames_every = 0.0;
        scene.run.contacts_every = 0.0;
        scene.run.frames = None;
        scene.run.force_chains = false;
        scene.run.impact_speed = None;
        scene.run.checkpoint_every = None;
        scene.run.stop = None;
        scene.run.start_from = None;
        scene.run.start_time = StartTime::Zero;
        scene.run.on_unconverged = OnUnconverged::Accept;
        scene.parameters.clear();
        scene.mechanisms.clear();
        scene.flexible.clear();
        scene.joints.clear();
        scene.point_contacts.clear();
        scene.ropes.clear();
        scene.ignored_contacts.clear();
        scene.insertions.clear();
        scene.removals.clear();
        scene.probes.clear();
        scene.mechanism_probes.clear();
        scene.joint_probes.clear();
        scene.contact_probes.clear();
        scene.rope_probes.clear();
        scene.region_probes.clear();
        scene.plane_probes.clear();
        for body in &mut scene.bodies {
            // It is held at its initial position.
            body.kind = BodyKind::Fixed;
            body.mass = None;
        }
        scene.name_files_by_content();
        let mut text = scene.to_toml();

        // The shapes of mechanisms and flexible bodies come after the grains.
        let (settling, begin) = (&self.scene, self.scene.initial_state());
        let _ = writeln!(text, "\n[held]\nalert = {}", settling.detection().alert);
        for i in self.first_held..settling.bodies().len() {
            let Pose { position: p, rotation: r } = begin.q[i];
            let own = settling.colliders().iter().filter(|c| c.body as usize == i);
            let shapes = fingerprint(&own.collect::<Vec<_>>());
            let (name, r) = (&settling.bodies().names[i], r.coords);
            let _ = writeln!(
                text,
                "{name} = [{}, {}, {}, {}, {}, {}, {}, {shapes:x}]",
                p.x, p.y, p.z, r.x, r.y, r.z, r.w
            );
        }
        text
    }

    /// Name of the file for a bed in a folder of many.
    pub fn file_name(&self, file: &SceneFile) -> String {
        let key = fingerprint(&(riprap::NUMERICS, KIND.layout, self.identity(file)));
        format!("bed-{key:016x}.bin")
    }

    /// Number of grains that settle.
    pub fn n_grains(&self) -> usize {
        self.groups.iter().map(|(group, _)| group.len()).sum()
    }

    /// Writes a bed to a file.
    pub fn write(&self, path: &Path, file: &SceneFile, settled: &Settled) -> Result<(), Error> {
        let grains = || self.groups.iter().flat_map(|(group, _)| group.clone());
        let bed = Bed {
            scene: self.identity(file).into(),
            q: grains().map(|i| settled.state.q[i]).collect(),
            v: grains().map(|i| settled.state.v[i]).collect(),
            warm_start: settled.state.warm_start.clone(),
            calm: settled.calm,
            time: settled.time,
            report: settled.report,
        };
        sealed::write(path, &KIND, &bed)
    }

    /// Reads the bed of this scene from a file; a bed of another scene is rejected.
    pub fn read(&self, path: &Path, file: &SceneFile, scene: &Scene) -> Result<Settled, Error> {
        let bed: Bed = sealed::read(path, &KIND)?;
        let refuse = |message: String| Err(Error::format(path, Place::Whole, message));
        if let Some(what) = first_difference(&bed.scene, &self.identity(file)) {
            return refuse(format!("the bed was settled in another scene: {what}"));
        }
        if bed.q.len() != self.n_grains() || bed.v.len() != self.n_grains() {
            return refuse(format!(
                "the bed has {} grains, but the scene has {}",
                bed.q.len(),
                self.n_grains()
            ));
        }
        let mut state = scene.initial_state();
        let grains = self.groups.iter().flat_map(|(group, _)| group.clone());
        for (i, (q, v)) in grains.zip(bed.q.into_iter().zip(bed.v)) {
            (state.q[i], state.v[i]) = (q, v);
        }
        state.warm_start = bed.warm_start;
        Ok(Settled { state, calm: bed.calm, time: bed.time, report: bed.report })
    }
}
