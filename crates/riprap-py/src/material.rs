//! Materials and the contact laws of pairs.

use pyo3::prelude::*;

use riprap::scene::{ContactLaw, Material as CoreMaterial, PairLaw as CorePairLaw};

use crate::degradation::{Fragmentation, Wear};
use crate::errors;

/// A material: density [kg/m³], friction [–] and static friction [–], restitution [–], rolling resistance [m], cohesion [N],
/// surface energy (work of adhesion) [J/m²] and the gap up to which both act [m], Young's modulus [Pa] with Poisson's ratio [–] for Hertz's law, and how its stones break (Fragmentation) and wear (Wear). Two materials meet with the smaller values of both unless `SceneBuilder.pair` says
/// otherwise. Materials are identified by their names; without one, a name is made from the values.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
/// >>> rock.density, rock.restitution
/// (2700.0, 0.0)
/// >>> clay = rr.Material("clay", density=2000.0, friction=0.4, cohesion=0.02)
/// >>> rr.PairLaw.combined(clay, clay).cohesion
/// 0.02
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Material(pub CoreMaterial);

#[pymethods]
impl Material {
    #[new]
    #[pyo3(signature = (name=None, *, density=None, friction=0.0, restitution=0.0, rolling=0.0, static_friction=None, cohesion=0.0, surface_energy=0.0, cohesion_range=None, young=None, poisson=None, fragmentation=None, wear=None))]
    fn new(
        name: Option<String>,
        density: Option<f64>,
        friction: f64,
        restitution: f64,
        rolling: f64,
        static_friction: Option<f64>,
        cohesion: f64,
        surface_energy: f64,
        cohesion_range: Option<f64>,
        young: Option<f64>,
        poisson: Option<f64>,
        fragmentation: Option<Fragmentation>,
        wear: Option<Wear>,
    ) -> Material {
        let (fragmentation, wear) = (fragmentation.map(|f| f.0), wear.map(|w| w.0));
        let given = CoreMaterial {
            name: String::new(),
            density,
            friction,
            restitution,
            rolling,
            static_friction,
            cohesion,
            surface_energy,
            cohesion_range,
            young,
            poisson,
            fragmentation,
            wear,
        };
        let name = name.unwrap_or_else(|| {
            let density = density.map_or("no density".into(), |d| format!("{d} kg/m3"));
            let mut name = format!("material of {density}, friction {friction}, restitution {restitution}, rolling {rolling}, {young:?}, {poisson:?}");
            let adheres = cohesion != 0.0 || surface_energy != 0.0 || cohesion_range.is_some();
            if adheres || static_friction.is_some() {
                name += &format!(", static friction {static_friction:?}, cohesion {cohesion} N and {surface_energy} J/m2 up to {cohesion_range:?}");
            }
            if fragmentation.is_some() || wear.is_some() {
                name += &format!(", {fragmentation:?}, {wear:?}");
            }
            name
        });
        Material(CoreMaterial { name, ..given })
    }

    /// Name, by which pairs refer to it.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Density [kg/m³].
    #[getter]
    fn density(&self) -> Option<f64> {
        self.0.density
    }

    /// Coefficient of friction against itself [–].
    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    /// Coefficient of restitution against itself [–].
    #[getter]
    fn restitution(&self) -> f64 {
        self.0.restitution
    }

    /// Rolling resistance against itself [m].
    #[getter]
    fn rolling(&self) -> f64 {
        self.0.rolling
    }

    /// Coefficient of friction of contacts that stick against itself [–]; that of sliding ones if not given.
    #[getter]
    fn static_friction(&self) -> Option<f64> {
        self.0.static_friction
    }

    /// Adhesive force of two touching shapes [N].
    #[getter]
    fn cohesion(&self) -> f64 {
        self.0.cohesion
    }

    /// Work of adhesion [J/m²].
    #[getter]
    fn surface_energy(&self) -> f64 {
        self.0.surface_energy
    }

    /// Gap up to which cohesion acts [m]; a hundredth of the mean grain size if not given.
    #[getter]
    fn cohesion_range(&self) -> Option<f64> {
        self.0.cohesion_range
    }

    /// Young's modulus [Pa].
    #[getter]
    fn young(&self) -> Option<f64> {
        self.0.young
    }

    /// Poisson's ratio [–].
    #[getter]
    fn poisson(&self) -> Option<f64> {
        self.0.poisson
    }

    /// When its stones break.
    #[getter]
    fn fragmentation(&self) -> Option<Fragmentation> {
        self.0.fragmentation.map(Fragmentation)
    }

    /// How its stones wear.
    #[getter]
    fn wear(&self) -> Option<Wear> {
        self.0.wear.map(Wear)
    }

    fn __repr__(&self) -> String {
        let density = self.0.density.map_or(String::new(), |d| format!(", density={d:?}"));
        let CoreMaterial { name, friction, restitution, .. } = &self.0;
        format!("Material({name:?}{density}, friction={friction:?}, restitution={restitution:?})")
    }
}

/// The contact law of two materials: friction [–], that of contacts that stick if it differs [–], restitution [–], rolling
/// resistance [m], cohesion [N], surface energy [J/m²] and the gap up to which they act [m]; for the scheme `Penalty` also
/// stiffness [N/m], damping [N s/m], modulus [Pa] and dissipation [s]. `law` is `"moreau-newton"` or `"quasi-shock"`;
/// without it, quasi-shock if there is no restitution.
///
/// >>> import riprap as rr
/// >>> rr.PairLaw(friction=0.3).law
/// 'quasi-shock'
/// >>> wet = rr.PairLaw(friction=0.4, static_friction=0.6, surface_energy=0.05)
/// >>> round(1e6 * wet.pull_off(1e-3))  # 3/2 π w R, in µN
/// 236
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct PairLaw(pub CorePairLaw);

#[pymethods]
impl PairLaw {
    #[new]
    #[pyo3(signature = (*, friction=0.0, restitution=0.0, rolling=0.0, static_friction=None, cohesion=0.0, surface_energy=0.0, cohesion_range=None, law=None, stiffness=None, damping=None, modulus=None, dissipation=None))]
    fn new(
        friction: f64,
        restitution: f64,
        rolling: f64,
        static_friction: Option<f64>,
        cohesion: f64,
        surface_energy: f64,
        cohesion_range: Option<f64>,
        law: Option<&str>,
        stiffness: Option<f64>,
        damping: Option<f64>,
        modulus: Option<f64>,
        dissipation: Option<f64>,
    ) -> PyResult<PairLaw> {
        let law = match law {
            None => ContactLaw::for_restitution(restitution),
            Some("moreau-newton") => ContactLaw::MoreauNewton,
            Some("quasi-shock") => ContactLaw::QuasiShock,
            Some(other) => {
                let known = "\"moreau-newton\" or \"quasi-shock\"";
                return Err(errors::value(format!("no contact law `{other}`: write {known}")));
            }
        };
        Ok(PairLaw(CorePairLaw {
            friction,
            restitution,
            law,
            rolling,
            static_friction,
            cohesion,
            surface_energy,
            cohesion_range,
            stiffness,
            damping,
            modulus,
            dissipation,
        }))
    }

    /// The law that follows from two materials.
    #[staticmethod]
    fn combined(a: &Material, b: &Material) -> PairLaw {
        PairLaw(CorePairLaw::combined(&a.0, &b.0))
    }

    /// Coefficient of friction [–].
    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    /// Coefficient of restitution [–].
    #[getter]
    fn restitution(&self) -> f64 {
        self.0.restitution
    }

    /// Rolling resistance [m].
    #[getter]
    fn rolling(&self) -> f64 {
        self.0.rolling
    }

    /// Coefficient of friction of contacts that stick [–]; that of sliding ones if not given.
    #[getter]
    fn static_friction(&self) -> Option<f64> {
        self.0.static_friction
    }

    /// Adhesive force of two touching shapes [N].
    #[getter]
    fn cohesion(&self) -> f64 {
        self.0.cohesion
    }

    /// Work of adhesion [J/m²].
    #[getter]
    fn surface_energy(&self) -> f64 {
        self.0.surface_energy
    }

    /// Gap up to which cohesion acts [m]; a hundredth of the mean grain size if not given.
    #[getter]
    fn cohesion_range(&self) -> Option<f64> {
        self.0.cohesion_range
    }

    /// The force that separates two shapes with an effective radius [m], `1/R = 1/R₁ + 1/R₂` [N].
    fn pull_off(&self, radius: f64) -> f64 {
        self.0.pull_off(radius)
    }

    /// Stiffness for the scheme `Penalty` [N/m].
    #[getter]
    fn stiffness(&self) -> Option<f64> {
        self.0.stiffness
    }

    /// Damping for the scheme `Penalty` [N s/m].
    #[getter]
    fn damping(&self) -> Option<f64> {
        self.0.damping
    }

    /// Modulus of Hertz's law for the scheme `Penalty` [Pa].
    #[getter]
    fn modulus(&self) -> Option<f64> {
        self.0.modulus
    }

    /// Dissipation constant of Hertz's law for the scheme `Penalty` [s].
    #[getter]
    fn dissipation(&self) -> Option<f64> {
        self.0.dissipation
    }

    /// The law along the normal.
    #[getter]
    fn law(&self) -> &'static str {
        match self.0.law {
            ContactLaw::MoreauNewton => "moreau-newton",
            ContactLaw::QuasiShock => "quasi-shock",
        }
    }

    fn __repr__(&self) -> String {
        let CorePairLaw { friction, restitution, rolling, .. } = self.0;
        let law = self.law();
        format!(
            "PairLaw(friction={friction:?}, restitution={restitution:?}, rolling={rolling:?}, law={law:?})"
        )
    }
}
