//! Canonical scenes, references and studies.
