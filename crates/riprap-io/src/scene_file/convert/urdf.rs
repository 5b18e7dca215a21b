use super::super::values::Entries;
use super::Converter;
use super::mechanisms::Parts;

impl Converter<'_> {
    pub(super) fn urdf(&mut self, _mechanism: &Entries, _parts: &mut Parts) -> Option<usize> {
        None
    }
}
