//! The resolved scene: the model written back as a scene file with all defaults filled in, numbers in SI units and
//! absolute paths. Reading it gives an equal model, so a run can be repeated from its own folder.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::keys::{All, In, Names};
use super::model::{SceneFile, all_probes};

impl SceneFile {
    /// The scene as TOML text in SI units, which [`SceneFile::parse`] reads back to an equal scene.
    ///
    /// A path that is not valid Unicode is written with replacement characters and cannot be read back.
    ///
    /// # Panics
    ///
    /// Panics if a seed is 2^63 or more; no scene file can contain such a seed.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a scene is made of tables, lists, texts and numbers")
    }
}

impl Serialize for SceneFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = Names { scene: self, mechanism: None };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("gravity", &self.gravity)?;
        map.serialize_entry("planar", &self.planar)?;
        map.serialize_entry("run", &In(names, &self.run))?;
        map.serialize_entry("solver", &In(names, &self.solver))?;
        map.serialize_entry("contact", &In(names, &self.contact))?;
        map.serialize_entry("periodic", &self.periodic.as_ref().map(|cell| In(names, cell)))?;
        let parameters = self.parameters.iter().map(|one| (&one.name, one.value));
        map.serialize_entry("parameters", &Named(parameters))?;
        let materials = self.materials.iter().map(|one| (&one.name, In(names, one)));
        map.serialize_entry("materials", &Named(materials))?;
        map.serialize_entry("pair", &All(names, &self.pairs))?;
        let shapes = self.shapes.iter().map(|one| (&one.name, In(names, &one.shape)));
        map.serialize_entry("shapes", &Named(shapes))?;
        map.serialize_entry("body", &All(names, &self.bodies))?;
        map.serialize_entry("grains", &All(names, &self.grains))?;
        map.serialize_entry("mechanism", &All(names, &self.mechanisms))?;
        map.serialize_entry("flexible", &All(names, &self.flexible))?;
        map.serialize_entry("joint", &All(names, &self.joints))?;
        map.serialize_entry("point_contact", &All(names, &self.point_contacts))?;
        map.serialize_entry("rope", &All(names, &self.ropes))?;
        map.serialize_entry("ignore_contact", &All(names, &self.ignored_contacts))?;
        map.serialize_entry("insert", &All(names, &self.insertions))?;
        map.serialize_entry("remove", &All(names, &self.removals))?;
        map.serialize_entry("probe", &All(names, &all_probes(self)))?;
        map.end()
    }
}

/// Named values, in this order.
struct Named<I>(I);

impl<'a, T: Serialize, I: Iterator<Item = (&'a String, T)> + Clone> Serialize for Named<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}
