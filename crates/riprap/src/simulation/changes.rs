//! What happens to the bodies between two steps: they break and wear, come and go.

use super::Simulation;
use crate::population;
use crate::scene::Scene;
use crate::scheme::Workspace;

impl Simulation {
    /// Breaks and wears the stones that are due after the last step.
    pub(super) fn degrade(&mut self) {
        let Some(degradation) = &mut self.degradation else { return };
        if !degradation.is_due(&self.scene, &self.state) {
            return;
        }
        if self.described.is_none() {
            self.described = Some(Box::new(self.scene.clone()));
        }
        let scene = std::mem::replace(&mut self.scene, Scene::empty());
        let (scene, changed) = degradation.apply(scene, &mut self.state);
        self.scene = scene;
        if changed {
            self.work = Workspace { pulse: self.work.pulse.take(), ..Workspace::default() };
        }
    }

    /// Removes and inserts the bodies that are due.
    pub(super) fn exchange(&mut self) {
        let Some(exchange) = &mut self.exchange else { return };
        let Some(changes) = exchange.due(&self.scene, &mut self.state) else { return };
        if self.described.is_none() {
            self.described = Some(Box::new(self.scene.clone()));
        }
        let scene = std::mem::replace(&mut self.scene, Scene::empty());
        self.scene = population::apply(scene, &mut self.state, changes);
        self.work = Workspace { pulse: self.work.pulse.take(), ..Workspace::default() };
    }
}
