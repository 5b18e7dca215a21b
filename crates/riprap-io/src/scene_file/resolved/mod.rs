//! The resolved scene: the model written back as a scene file with all defaults filled in, numbers in SI and
//! paths absolute. Reading it gives an equal model, so a run can be repeated from its own folder.

mod mechanisms;

use std::fmt::Write;

use super::model::{
    Body, BodyJoint, BodyJointKind, BodyKind, Component, Detection, Grading, GrainShape, Grains,
    JointQuantity, MechanismQuantity, MeshTreatment, NormalLaw, OnUnconverged, Part, Place,
    Placement, PointContact, Quantity, SceneFile, Shape, ShapeRef, SolverMethod, Target,
    TimeScheme, Translation,
};

impl SceneFile {
    /// The scene as TOML text in SI units, which [`SceneFile::parse`] reads back to an equal scene.
    ///
    /// A path that is not valid Unicode is written with replacement characters and cannot be read back.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        if let Some(title) = &self.title {
            writeln!(out, "title = {}", text(title))?;
        }
        writeln!(out, "seed = {}", self.seed)?;
        writeln!(out, "gravity = {}", list(&self.gravity))?;
        writeln!(out, "planar = {}", self.planar)?;

        let run = &self.run;
        writeln!(out, "\n[run]\ndt = {}\nuntil = {}", number(run.dt), number(run.until))?;
        match run.scheme {
            TimeScheme::MoreauJean { theta } => {
                writeln!(out, "scheme = \"moreau-jean\"\ntheta = {}", number(theta))?;
            }
            TimeScheme::DormandPrince { tolerance } => {
                writeln!(out, "scheme = \"dormand-prince\"\ntolerance = {}", number(tolerance))?;
            }
        }
        writeln!(out, "output_every = {}\nframes = {}", number(run.output_every), run.frames)?;
        if let Some(every) = run.checkpoint_every {
            writeln!(out, "checkpoint_every = {}", number(every))?;
        }
        let word = match run.on_unconverged {
            OnUnconverged::Accept => "accept",
            OnUnconverged::Warn => "warn",
            OnUnconverged::Fail => "fail",
        };
        writeln!(out, "on_unconverged = \"{word}\"")?;

        let solver = &self.solver;
        writeln!(out, "\n[solver]")?;
        let method = match solver.method {
            SolverMethod::Coloured => "coloured",
            SolverMethod::ConjugateGradient => "conjugate-gradient",
            SolverMethod::GaussSeidel => "gauss-seidel",
        };
        writeln!(out, "method = \"{method}\"")?;
        for (key, value) in [
            ("tolerance", solver.tolerance),
            ("approach_tolerance", solver.approach_tolerance),
            ("velocity_change_tolerance", solver.velocity_change_tolerance),
            ("max_velocity_change_tolerance", solver.max_velocity_change_tolerance),
        ] {
            writeln!(out, "{key} = {}", number(value))?;
        }
        writeln!(out, "max_sweeps = {}", solver.max_sweeps)?;

        writeln!(out, "\n[contact]")?;
        if let Some(alert) = self.contact.alert {
            writeln!(out, "alert = {}", number(alert))?;
        }
        let word = match self.contact.detection {
            Detection::SeparatingAxes => "separating-axes",
            Detection::CommonPlane => "common-plane",
        };
        writeln!(out, "detection = \"{word}\"")?;

        if !self.parameters.is_empty() {
            writeln!(out, "\n[parameters]")?;
        }
        for parameter in &self.parameters {
            writeln!(out, "{} = {}", text(&parameter.name), number(parameter.value))?;
        }
        for material in &self.materials {
            writeln!(out, "\n[materials.{}]", text(&material.name))?;
            if let Some(density) = material.density {
                writeln!(out, "density = {}", number(density))?;
            }
            writeln!(out, "friction = {}", number(material.friction))?;
            writeln!(out, "restitution = {}", number(material.restitution))?;
            writeln!(out, "rolling = {}", number(material.rolling))?;
        }
        for pair in &self.pairs {
            let [a, b] = pair.between.map(|index| text(&self.materials[index].name));
            writeln!(out, "\n[[pair]]\nbetween = [{a}, {b}]")?;
            writeln!(out, "friction = {}", number(pair.friction))?;
            writeln!(out, "restitution = {}", number(pair.restitution))?;
            writeln!(out, "law = \"{}\"", law_word(pair.law))?;
            writeln!(out, "rolling = {}", number(pair.rolling))?;
        }
        for named in &self.shapes {
            writeln!(out, "\n[shapes.{}]", text(&named.name))?;
            for (key, value) in self.shape_fields(&named.shape) {
                writeln!(out, "{key} = {value}")?;
            }
        }
        for body in &self.bodies {
            self.write_body(body, out)?;
        }
        for grains in &self.grains {
            self.write_grains(grains, out)?;
        }
        for mechanism in &self.mechanisms {
            self.write_mechanism(mechanism, out)?;
        }
        for joint in &self.joints {
            self.write_joint(joint, out)?;
        }
        for contact in &self.point_contacts {
            self.write_point_contact(contact, out)?;
        }
        for pair in &self.ignored_contacts {
            let [a, b] = pair.map(|body| text(&self.target_name(body)));
            writeln!(out, "\n[[ignore_contact]]\nbetween = [{a}, {b}]")?;
        }
        for probe in &self.mechanism_probes {
            writeln!(out, "\n[[probe]]\nname = {}", text(&probe.name))?;
            writeln!(out, "mechanism = {}", text(&self.mechanisms[probe.mechanism].name))?;
            let quantities = probe.quantities.iter().map(|quantity| match quantity {
                MechanismQuantity::Forces => "\"forces\"",
                MechanismQuantity::LoopForces => "\"loop_forces\"",
                MechanismQuantity::JointForces => "\"joint_forces\"",
                MechanismQuantity::Energy => "\"energy\"",
            });
            writeln!(out, "quantities = [{}]", quantities.collect::<Vec<_>>().join(", "))?;
        }
        for probe in &self.joint_probes {
            writeln!(out, "\n[[probe]]\nname = {}", text(&probe.name))?;
            writeln!(out, "joint = {}", text(&self.joints[probe.joint].name))?;
            let quantities = probe.quantities.iter().map(|quantity| match quantity {
                JointQuantity::Force => "\"force\"",
                JointQuantity::Torque => "\"torque\"",
                JointQuantity::Error => "\"error\"",
            });
            writeln!(out, "quantities = [{}]", quantities.collect::<Vec<_>>().join(", "))?;
        }
        for probe in &self.probes {
            writeln!(out, "\n[[probe]]\nname = {}", text(&probe.name))?;
            writeln!(out, "body = {}", text(&self.target_name(probe.body)))?;
            if let Target::MechanismBody { .. } = probe.body {
                writeln!(out, "point = {}", list(&probe.point))?;
            }
            let quantities = probe.quantities.iter().map(|quantity| match quantity {
                Quantity::Position => "\"position\"",
                Quantity::Velocity => "\"velocity\"",
                Quantity::Rotation => "\"rotation\"",
                Quantity::AngularVelocity => "\"angular_velocity\"",
                Quantity::Force => "\"force\"",
                Quantity::Torque => "\"torque\"",
                Quantity::Contacts => "\"contacts\"",
                Quantity::Work => "\"work\"",
            });
            writeln!(out, "quantities = [{}]", quantities.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }

    fn write_joint(&self, joint: &BodyJoint, out: &mut String) -> std::fmt::Result {
        let (word, axis) = match &joint.kind {
            BodyJointKind::Ball => ("ball", None),
            BodyJointKind::Hinge { axis } => ("hinge", Some(axis)),
            BodyJointKind::Slider { axis } => ("slider", Some(axis)),
            BodyJointKind::Weld => ("weld", None),
        };
        let [a, b] = joint
            .between
            .map(|body| text(&body.map_or("world".into(), |body| self.target_name(body))));
        writeln!(out, "\n[[joint]]\nname = {}\ntype = \"{word}\"", text(&joint.name))?;
        writeln!(out, "between = [{a}, {b}]\nposition = {}", list(&joint.position))?;
        if let Some(axis) = axis {
            writeln!(out, "axis = {}", list(axis))?;
        }
        writeln!(out, "project = {}", joint.project)
    }

    fn write_point_contact(&self, contact: &PointContact, out: &mut String) -> std::fmt::Result {
        let body =
            |place: &Place| text(&place.body.map_or("world".into(), |body| self.target_name(body)));
        writeln!(out, "\n[[point_contact]]\nname = {}", text(&contact.name))?;
        let (point, plane) = (&contact.point, &contact.plane);
        let position = list(&point.position);
        writeln!(out, "point = {{ body = {}, position = {position} }}", body(point))?;
        let (position, normal) = (list(&plane.position), list(&contact.normal));
        writeln!(
            out,
            "plane = {{ body = {}, position = {position}, normal = {normal} }}",
            body(plane)
        )?;
        writeln!(out, "friction = {}", number(contact.friction))?;
        writeln!(out, "restitution = {}", number(contact.restitution))?;
        writeln!(out, "law = \"{}\"", law_word(contact.law))
    }

    fn write_body(&self, body: &Body, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n[[body]]\nname = {}", text(&body.name))?;
        writeln!(out, "shape = {}", self.shape_value(&body.shape))?;
        writeln!(out, "material = {}", text(&self.materials[body.material].name))?;
        let by_position = matches!(
            &body.kind,
            BodyKind::Moving(motion) if matches!(motion.translation, Translation::Position(_))
        );
        if !by_position {
            writeln!(out, "position = {}", list(&body.position))?;
        }
        writeln!(out, "rotation = {{ quaternion = {} }}", list(&body.rotation))?;
        if let Some(mass) = &body.mass {
            writeln!(out, "mass = {}", number(mass.mass))?;
            if let Some(inertia) = &mass.inertia {
                writeln!(out, "inertia = [{}]", inertia.map(|row| list(&row)).join(", "))?;
            }
            if let Some(centre) = &mass.centre {
                writeln!(out, "centre = {}", list(centre))?;
            }
        }
        match &body.kind {
            BodyKind::Fixed => writeln!(out, "kind = \"fixed\""),
            BodyKind::Free { velocity, angular_velocity, locked, force, torque } => {
                writeln!(out, "kind = \"free\"\nvelocity = {}", list(velocity))?;
                writeln!(out, "angular_velocity = {}", list(angular_velocity))?;
                let directions = ["x", "y", "z", "rx", "ry", "rz"].into_iter().zip(locked);
                let directions: Vec<String> = directions
                    .filter(|(_, locked)| **locked)
                    .map(|(name, _)| format!("\"{name}\""))
                    .collect();
                writeln!(out, "locked = [{}]", directions.join(", "))?;
                writeln!(out, "force = {}\ntorque = {}", list(force), list(torque))
            }
            BodyKind::Moving(motion) => {
                writeln!(out, "kind = \"moving\"")?;
                let (key, laws) = match &motion.translation {
                    Translation::Velocity(laws) => ("velocity", laws),
                    Translation::Position(laws) => ("position", laws),
                };
                writeln!(out, "[body.motion]\n{key} = {}", components(laws))?;
                writeln!(out, "angular_velocity = {}", components(&motion.angular_velocity))
            }
        }
    }

    fn write_grains(&self, grains: &Grains, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n[[grains]]\nname = {}", text(&grains.name))?;
        writeln!(out, "material = {}", text(&self.materials[grains.material].name))?;
        writeln!(out, "seed = {}", grains.seed)?;
        match &grains.shape {
            GrainShape::Shape(shape) => writeln!(out, "shape = {}", self.shape_value(shape))?,
            GrainShape::Stones { vertices, flatness, elongation, angularity, grading } => {
                writeln!(
                    out,
                    "stones = {{ vertices = {vertices}, flatness = {}, elongation = {}, angularity = {} }}",
                    number(*flatness),
                    number(*elongation),
                    number(*angularity)
                )?;
                writeln!(out, "grading = {}", grading_value(grading))?;
            }
            GrainShape::Scans { folder, max_vertices, grading, .. } => {
                let folder = text(&folder.to_string_lossy());
                writeln!(out, "stones = {{ folder = {folder}, max_vertices = {max_vertices} }}")?;
                writeln!(out, "grading = {}", grading_value(grading))?;
            }
            GrainShape::Spheres { grading } => {
                writeln!(out, "spheres = {{}}\ngrading = {}", grading_value(grading))?;
            }
        }
        match &grains.placement {
            Placement::Lattice { counts, spacing, origin, jitter, random_rotation } => {
                let n_axes = if self.planar { 2 } else { 3 };
                writeln!(out, "generator = \"lattice\"\ncounts = {:?}", &counts[..n_axes])?;
                writeln!(out, "spacing = {}", list(&spacing[..n_axes]))?;
                writeln!(out, "origin = {}\njitter = {}", list(origin), number(*jitter))?;
                writeln!(out, "random_rotation = {random_rotation}")
            }
            Placement::Rain { count, min, max, settle } => {
                writeln!(out, "generator = \"rain\"\ncount = {count}")?;
                writeln!(out, "box = {{ min = {}, max = {} }}", list(min), list(max))?;
                if let Some(settle) = settle {
                    let (speed, at_most) = (number(settle.speed), number(settle.at_most));
                    let drag = match settle.drag {
                        0.0 => String::new(),
                        drag => format!(", drag = {}", number(drag)),
                    };
                    writeln!(out, "settle = {{ speed = {speed}, at_most = {at_most}{drag} }}")?;
                }
                Ok(())
            }
            Placement::File { file, .. } => {
                writeln!(out, "generator = \"file\"\nfile = {}", text(&file.to_string_lossy()))
            }
        }
    }

    fn shape_value(&self, shape: &ShapeRef) -> String {
        match shape {
            ShapeRef::Named(index) => text(&self.shapes[*index].name),
            ShapeRef::Inline(shape) => {
                let fields = self.shape_fields(shape);
                let fields = fields.iter().map(|(key, value)| format!("{key} = {value}"));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn shape_fields(&self, shape: &Shape) -> Vec<(&'static str, String)> {
        let of = |name: &str| ("type", text(name));
        match shape {
            Shape::Sphere { radius } => vec![of("sphere"), ("radius", number(*radius))],
            Shape::Box { size } => vec![of("box"), ("size", list(size))],
            Shape::HalfSpace { normal } => vec![of("half-space"), ("normal", list(normal))],
            Shape::Polyhedron { points } => {
                let points: Vec<String> = points.iter().map(|point| list(point)).collect();
                vec![of("polyhedron"), ("points", format!("[{}]", points.join(", ")))]
            }
            Shape::Mesh { file, scale, treatment, .. } => {
                let mut fields = vec![
                    of("mesh"),
                    ("file", text(&file.to_string_lossy())),
                    ("scale", number(*scale)),
                ];
                match treatment {
                    MeshTreatment::Hull => fields.push(("as", text("hull"))),
                    MeshTreatment::Parts { max_parts } => {
                        fields.push(("as", text("parts")));
                        fields.push(("max_parts", max_parts.to_string()));
                    }
                }
                fields
            }
            Shape::Compound { parts } => {
                let parts: Vec<String> = parts.iter().map(|part| self.part(part)).collect();
                vec![of("compound"), ("parts", format!("[{}]", parts.join(", ")))]
            }
            Shape::OpenBox { size, wall } => {
                vec![of("open-box"), ("size", list(size)), ("wall", number(*wall))]
            }
            Shape::Disc { radius, thickness } => {
                vec![of("disc"), ("radius", number(*radius)), ("thickness", number(*thickness))]
            }
            Shape::Polygon { points, thickness } => {
                let points: Vec<String> = points.iter().map(|point| list(point)).collect();
                let points = format!("[{}]", points.join(", "));
                vec![of("polygon"), ("points", points), ("thickness", number(*thickness))]
            }
        }
    }

    fn part(&self, part: &Part) -> String {
        format!(
            "{{ shape = {}, position = {}, rotation = {{ quaternion = {} }} }}",
            self.shape_value(&part.shape),
            list(&part.position),
            list(&part.rotation)
        )
    }
}

fn law_word(law: NormalLaw) -> &'static str {
    match law {
        NormalLaw::MoreauNewton => "moreau-newton",
        NormalLaw::QuasiShock => "quasi-shock",
    }
}

fn grading_value(grading: &Grading) -> String {
    match grading {
        Grading::Standard(name) => text(name),
        Grading::Sieves { sieves, passing } => {
            format!("{{ sieves = {}, passing = {} }}", list(sieves), list(passing))
        }
        Grading::Uniform { min, max } => format!("{{ uniform = {} }}", list(&[*min, *max])),
    }
}

/// A float that reads back to the same bits and is a float in TOML too.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn list(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| number(*value)).collect();
    format!("[{}]", values.join(", "))
}

fn components(laws: &[Component; 3]) -> String {
    format!("[{}]", laws.each_ref().map(component).join(", "))
}

fn component(law: &Component) -> String {
    match law {
        Component::Constant(value) => number(*value),
        Component::Expression(law) => text(law.source()),
    }
}

/// A text in quotes, escaped as TOML demands.
fn text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
