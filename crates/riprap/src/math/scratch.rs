//! Scratch memory of solvers and schemes. Solvers and schemes are descriptions (options); their
//! buffers are scratch of their own type, kept between steps.

use std::any::Any;
use std::fmt;

/// Scratch of one solver or scheme, in this crate or in another one.
pub trait Buffers: Any + Default + Send + Sync {
    /// Bytes held, for memory reports.
    fn bytes(&self) -> usize {
        0
    }
}

/// Scratch of any type: one entry for each type requested.
#[derive(Default)]
pub struct Scratch {
    entries: Vec<Box<dyn Entry>>,
}

/// [`Buffers`] with its type erased.
trait Entry: Send + Sync {
    fn bytes(&self) -> usize;
    fn as_any(&mut self) -> &mut dyn Any;
}

impl<T: Buffers> Entry for T {
    fn bytes(&self) -> usize {
        Buffers::bytes(self)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Scratch {
    /// The scratch of type `T`; empty when first requested.
    pub fn of<T: Buffers>(&mut self) -> &mut T {
        let known = self.entries.iter_mut().position(|e| (**e).as_any().is::<T>());
        let place = known.unwrap_or_else(|| {
            self.entries.push(Box::new(T::default()));
            self.entries.len() - 1
        });
        let entry = (*self.entries[place]).as_any().downcast_mut();
        entry.expect("the entry was found or created with this type")
    }

    /// Bytes held by all entries.
    pub fn bytes(&self) -> usize {
        self.entries.iter().map(|e| (**e).bytes()).sum()
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Scratch").field("entries", &self.entries.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Numbers(Vec<f64>);

    impl Buffers for Numbers {
        fn bytes(&self) -> usize {
            8 * self.0.len()
        }
    }

    #[derive(Default)]
    struct Count(usize);

    impl Buffers for Count {}

    #[test]
    fn each_type_gets_its_own_buffers_back() {
        let mut scratch = Scratch::default();
        scratch.of::<Numbers>().0.push(1.0);
        scratch.of::<Count>().0 += 3;
        scratch.of::<Numbers>().0.push(2.0);
        assert_eq!(scratch.of::<Numbers>().0, [1.0, 2.0]);
        assert_eq!(scratch.of::<Count>().0, 3);
        assert_eq!(scratch.bytes(), 16);
    }
}
