//! HDF5 files that grow while others read them: arrays that are appended to in place, so that a kill at any moment leaves a
//! readable file.
//!
//! The structure of a file (groups, attributes, arrays) is fixed when it is created ([`Plan`]); only the rows of arrays grow, and
//! the counters that say how many of them are valid. The file uses the oldest forms of HDF5, which have no checksums: superblock
//! version 0, object headers and B-trees version 1. An [`Appender`] writes, in this order: chunks and new nodes at the end of the file,
//! the end of the file in the superblock, entries of B-trees, dimensions, and the first page, which contains all counters. Every
//! write is complete in itself, so that each prefix of the sequence is a valid file, with the counters of the last commit.

mod append;
mod encode;
mod plan;
mod read;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use append::{Appender, Store};
pub(crate) use encode::Type;
pub(crate) use plan::{Array, Attribute, Counter, Group, Plan};
pub(crate) use read::{Reader, Stored, number_at};

/// Bytes of the first page: superblock and counters. The kernel copies a page as a whole, even if the process is killed.
const PAGE: usize = 4096;

/// Maximum number of entries of a node of a B-tree: twice the default `K` of libhdf5.
const ENTRIES: usize = 64;

/// Position of the end-of-file address in the superblock.
const END_AT: u64 = 40;
