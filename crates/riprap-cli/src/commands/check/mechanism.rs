//! The part of `riprap check` on mechanisms: tree, coordinates, loops, and the dependent and independent coordinates.

use riprap::multibody::{Coordinate, Joint, Link, Multibody};
use riprap_io::scene_file::Mechanism;

use crate::text::{number, table};

/// Describes a mechanism with text and tables.
pub fn describe(described: &Mechanism, system: &Multibody) -> String {
    let partition = &system.start().partition;
    let mass: f64 = system.links().map(|link| system.mass(link)).sum();
    let mut text = format!(
        "mechanism `{}`: {}, {} kg, {}, {}\n",
        system.name(),
        count(system.n_links(), "body", "bodies"),
        number(mass),
        count(system.n_v(), "coordinate", "coordinates"),
        count(system.degrees_of_freedom(partition), "degree of freedom", "degrees of freedom")
    );
    text += &table(&tree(system), &[3]);
    if system.n_equations() > 0 {
        text.push('\n');
        text += &table(&loops(system), &[]);
    }
    let mut rows = Vec::new();
    if system.n_equations() > 0 {
        let counts = format!(
            "{} from the loops, rank {}, {} redundant",
            system.n_equations(),
            partition.rows.len(),
            partition.redundant.len()
        );
        rows.push(vec!["equations".to_owned(), counts]);
        for row in &partition.redundant {
            rows.push(vec!["redundant".into(), system.equation_name(*row as usize)]);
        }
        let names = |columns: &[u32]| {
            let names = columns.iter().map(|c| system.coordinate_name(Coordinate(*c)));
            names.collect::<Vec<_>>().join(", ")
        };
        let independent = match &partition.independent[..] {
            [] => "none".into(),
            columns => names(columns),
        };
        let depend = format!("{} ← {independent}", names(&partition.dependent));
        rows.push(vec!["dependent ← independent".into(), depend]);
        let chosen = match described.dependent.is_empty() {
            true => "chosen automatically",
            false => "as given by `dependent` in the scene",
        };
        rows.push(vec![String::new(), chosen.into()]);
        if !partition.dependent.is_empty() && !partition.independent.is_empty() {
            let advice = format!(
                "if contacts chatter or overlap, choose {} with `dependent`: those that move with the body in contact \
                 should be independent",
                count(partition.dependent.len(), "another coordinate", "other coordinates")
                    .replacen("1 another", "another", 1)
            );
            rows.push(vec![String::new(), advice]);
        }
        let conditioning = number(partition.conditioning);
        rows.push(vec!["conditioning".into(), format!("{conditioning} (1 is ideal, 0 singular)")]);
    }
    let driven: Vec<&str> =
        system.driven_coordinates().map(|c| system.coordinate_name(c)).collect();
    if !driven.is_empty() {
        rows.push(vec!["prescribed".into(), driven.join(", ")]);
    }
    if !rows.is_empty() {
        text.push('\n');
        text += &table(&rows, &[]);
    }
    text
}

/// A count with the singular or plural form of its noun.
fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The tree in depth-first order: body, joint, initial coordinates, mass.
fn tree(system: &Multibody) -> Vec<Vec<String>> {
    let heading = ["body", "joint", "initial state", "mass"].map(str::to_owned).to_vec();
    let mut rows = vec![heading];
    // Bodies still to be listed, the next one last.
    let children = |of: Link| system.links().filter(move |link| system.parent(*link) == of);
    let mut stack: Vec<(Link, usize)> =
        children(riprap::multibody::GROUND).map(|l| (l, 0)).collect();
    stack.reverse();
    while let Some((link, depth)) = stack.pop() {
        let mass = match system.mass(link) {
            0.0 => "–".into(),
            mass => format!("{} kg", number(mass)),
        };
        rows.push(vec![
            format!("{}{}", "  ".repeat(depth), system.link_name(link)),
            system.joint(link).word().to_owned(),
            start(system, link),
            mass,
        ]);
        let first = stack.len();
        stack.extend(children(link).map(|child| (child, depth + 1)));
        stack[first..].reverse();
    }
    rows
}

/// Initial coordinates of the joint of a body.
fn start(system: &Multibody, link: Link) -> String {
    let joint = system.joint(link);
    let first = system.first_coordinate(link).0;
    let mut words = Vec::new();
    for k in 0..joint.coordinate_names().len() as u32 {
        let c = Coordinate(first + k);
        let (name, unit) =
            (system.coordinate_name(c), if system.is_angle(c) { "rad" } else { "m" });
        let v = system.start().v[c.0 as usize];
        let mut word = match system.q_of(c) {
            Some(at) => format!("{name} = {} {unit}", number(tidy(system.start().q[at]))),
            None => name.to_owned(),
        };
        if v != 0.0 {
            word += &format!(" ({} {unit}/s)", number(tidy(v)));
        }
        words.push(word);
    }
    if let Joint::Fixed = joint {
        return "–".into();
    }
    words.join(", ")
}

/// Replaces rounding errors around zero with zero.
fn tidy(value: f64) -> f64 {
    if value.abs() < 1e-13 { 0.0 } else { value }
}

fn loops(system: &Multibody) -> Vec<Vec<String>> {
    let heading = ["loop", "type", "between", "equations"].map(str::to_owned).to_vec();
    let mut rows = vec![heading];
    for ((name, cut), (a, b)) in system.loops().zip(system.loop_links()) {
        rows.push(vec![
            name.to_owned(),
            cut.word().to_owned(),
            format!("{} – {}", system.link_name(a), system.link_name(b)),
            cut.equation_names().join(", "),
        ]);
    }
    rows
}
