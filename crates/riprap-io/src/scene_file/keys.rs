//! A single source for each key of the scene file. [`table!`] and [`variants!`] declare a part of the model together with its
//! keys: the member, its type, the kind of value, whether it is required, and its meaning. They generate the struct, its
//! conversion from checked values, its serialization by serde, and the description used by the checks, the schema and the
//! reference page.
//!
//! A [`Codec`] reads and writes a member: [`Plain`] for numbers, words, lists and tables, others for members that refer to
//! something else in the scene.

use std::path::PathBuf;

use serde::ser::{Serialize, SerializeMap, Serializer};

pub(super) use super::convert::Converter;
use super::model::{Mechanism, SceneFile};
pub(super) use super::values::Entries;
use super::values::Node;

/// The context needed to write names instead of indices.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub scene: &'a SceneFile,
    /// The mechanism whose parts are being written, if any.
    pub mechanism: Option<&'a Mechanism>,
}

/// Reads and writes values of type `T` under one or several keys.
pub(crate) trait Codec<T> {
    /// The value in `entries`; `None` if it is invalid, which has been reported.
    fn read(from: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<T>;

    /// Writes the value such that reading it back gives an equal value.
    fn write<M: SerializeMap>(
        value: &T,
        names: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error>;
}

/// A type read from the keys of a table.
pub(crate) trait ReadKeys: Sized {
    /// Reads all keys even if one is invalid, so that every mistake is reported.
    fn read_keys(from: &mut Converter<'_>, entries: &Entries) -> Option<Self>;
}

/// A struct of the simulator with some members set by keys.
pub(crate) trait SetKeys {
    /// Sets the members whose keys are present; those with invalid values are left unchanged.
    fn set_keys(&mut self, from: &mut Converter<'_>, entries: &Entries);
}

/// A type written as the keys of a table.
pub(crate) trait WriteKeys {
    /// Writes all keys.
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error>;
}

/// An enum whose values are words of the scene file.
pub(crate) trait Choice: Copy + Sized + 'static {
    /// The words and their meanings.
    const WORDS: &'static [(&'static str, &'static str)];

    /// The word of a value.
    fn word(self) -> &'static str;

    /// The value of a word.
    fn of(word: &str) -> Option<Self>;
}

/// The words of a choice, for its description.
pub(crate) const fn words_of<T: Choice>() -> &'static [(&'static str, &'static str)] {
    T::WORDS
}

/// A table with the names it refers to, for serialization by serde.
pub(crate) struct In<'a, T>(pub Names<'a>, pub &'a T);

impl<T: WriteKeys> Serialize for In<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.1.write_keys(self.0, &mut map)?;
        map.end()
    }
}

/// A list of tables of the same kind; omitted if empty.
pub(crate) struct All<'a, T>(pub Names<'a>, pub &'a [T]);

impl<T: WriteKeys> Serialize for All<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.1.is_empty() {
            return serializer.serialize_none();
        }
        serializer.collect_seq(self.1.iter().map(|item| In(self.0, item)))
    }
}

/// A table with a single key.
pub(crate) struct Single<'a, T>(pub &'static str, pub &'a T);

impl<T: Serialize> Serialize for Single<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

/// The codec of values that need no context.
pub(crate) struct Plain;

/// A value stored in a single checked node.
trait FromNode: Sized {
    fn from_node(node: &Node) -> Option<Self>;
}

macro_rules! plain {
    ($($ty:ty: $node:ident => $value:expr;)+) => {$(
        impl FromNode for $ty {
            fn from_node($node: &Node) -> Option<Self> {
                $value
            }
        }

        impl Codec<$ty> for Plain {
            fn read(_: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<$ty> {
                <$ty>::from_node(entries.get(key)?)
            }

            fn write<M: SerializeMap>(
                value: &$ty,
                _: Names<'_>,
                key: &'static str,
                map: &mut M,
            ) -> Result<(), M::Error> {
                map.serialize_entry(key, value)
            }
        }
    )+};
}

plain! {
    f64: node => node.number();
    bool: node => node.flag();
    u32: node => u32::try_from(node.integer()?).ok();
    u64: node => u64::try_from(node.integer()?).ok();
    String: node => node.text().map(str::to_owned);
    [f64; 2]: node => node.numbers();
    [f64; 3]: node => node.numbers();
    Vec<f64>: node => node.list()?.iter().map(f64::from_node).collect();
    Vec<[f64; 2]>: node => node.list()?.iter().map(<[f64; 2]>::from_node).collect();
    Vec<[f64; 3]>: node => node.list()?.iter().map(<[f64; 3]>::from_node).collect();
}

impl<T: Choice> Codec<T> for Plain {
    fn read(_: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<T> {
        T::of(entries.text(key)?)
    }

    fn write<M: SerializeMap>(
        value: &T,
        _: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        map.serialize_entry(key, value.word())
    }
}

impl<T> Codec<Option<T>> for Plain
where
    Plain: Codec<T>,
{
    fn read(from: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<Option<T>> {
        match entries.get(key) {
            None => Some(None),
            Some(_) => <Plain as Codec<T>>::read(from, entries, key).map(Some),
        }
    }

    fn write<M: SerializeMap>(
        value: &Option<T>,
        names: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        value.as_ref().map_or(Ok(()), |value| Plain::write(value, names, key, map))
    }
}

/// Declares a [`Codec`] for one key: how its value is read, and what serde writes.
macro_rules! codec {
    (
        $(#[doc = $doc:literal])+
        $vis:vis $name:ident: $ty:ty,
        |$from:pat_param, $entries:ident, $key:pat_param| $read:expr,
        |$value:ident, $names:pat_param| $write:expr
    ) => {
        $(#[doc = $doc])+
        $vis struct $name;

        impl $crate::scene_file::keys::Codec<$ty> for $name {
            fn read(
                $from: &mut $crate::scene_file::convert::Converter<'_>,
                $entries: &$crate::scene_file::values::Entries,
                $key: &'static str,
            ) -> Option<$ty> {
                $read
            }

            fn write<M: serde::ser::SerializeMap>(
                $value: &$ty,
                $names: $crate::scene_file::keys::Names<'_>,
                key: &'static str,
                map: &mut M,
            ) -> Result<(), M::Error> {
                map.serialize_entry(key, &$write)
            }
        }
    };
}

codec! {
    /// The path of a file, relative to the scene file; absolute in the model.
    pub(crate) FilePath: PathBuf,
    |from, entries, key| Some(from.path(entries.text(key)?)),
    |path, _| path.to_string_lossy()
}

/// Words for the values of an enum, here or in the simulator.
macro_rules! words {
    ($ty:ty { $($variant:ident $word:literal: $doc:literal,)+ }) => {
        impl $crate::scene_file::keys::Choice for $ty {
            const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $doc)),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

/// Keys that no macro below declares together with a member, each as `key: kind, need;` preceded by its meaning.
macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $key:ident: $kind:expr, $need:expr;)+) => {
        &[$($crate::scene_file::keys::table!(@field [$($doc)+] stringify!($key), $kind, $need)),+]
    };
}

/// Declares a struct of the model and the table of the scene file that it is read from.
///
/// A member is `name("key"): Type = kind, need, with Codec;`, where the key and the codec may be omitted if they are the name
/// and [`Plain`], or `name: Type => keys, with Codec;` if it is read from several keys, or from none. The doc comment is the
/// meaning of the key. `unless` specifies when a key is not written, `and` adds keys that are read elsewhere. `for Type { … }`
/// describes keys of a struct of the simulator instead, which are set one by one.
macro_rules! table {
    (
        $(#[doc = $table_doc:literal])+
        $table:ident = $name:literal, $title:literal $(, tag $tag:expr)? $(, and $and:expr)?;
        $vis:vis struct $ty:ident {$(
            $(#[doc = $doc:literal])+
            $member:ident $(($key:literal))?: $member_ty:ty
                $(= $kind:expr, $need:expr)? $(=> $keys:expr)? $(, with $codec:ty)? $(, unless $unless:expr)?;
        )+}
    ) => {
        $(#[doc = $table_doc])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $ty {$(
            $(#[doc = $doc])+
            $(#[doc = concat!("\n\nValue: `", stringify!($kind), "`.")])?
            pub $member: $member_ty,
        )+}

        pub(crate) static $table: $crate::scene_file::fields::Table = $crate::scene_file::fields::Table {
            name: $name,
            title: $title,
            doc: table!(@doc $($table_doc)+),
            fields: &[
                $(table!(@keys [$($doc)+] [$member $($key)?] [$($kind, $need)?] [$($keys)?]),)+
                $($and,)?
            ],
            tag: table!(@tag $($tag)?),
        };

        const _: () = {
            use serde::ser::SerializeMap;
            use $crate::scene_file::keys::{Codec, Converter, Entries, In, Names, Plain, ReadKeys, WriteKeys};

            impl ReadKeys for $ty {
                fn read_keys(from: &mut Converter<'_>, entries: &Entries) -> Option<Self> {
                    $(let $member: Option<$member_ty> =
                        <table!(@codec $($codec)?)>::read(from, entries, table!(@key $member $($key)?));)+
                    Some(Self { $($member: $member?,)+ })
                }
            }

            impl WriteKeys for $ty {
                fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
                    $(if true $(&& !($unless)(self))? {
                        <table!(@codec $($codec)?)>::write(&self.$member, names, table!(@key $member $($key)?), map)?;
                    })+
                    Ok(())
                }
            }

            /// Read as a table under a key of another table.
            impl Codec<$ty> for Plain {
                fn read(from: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<$ty> {
                    <$ty>::read_keys(from, entries.table(key)?)
                }

                fn write<M: SerializeMap>(
                    value: &$ty,
                    names: Names<'_>,
                    key: &'static str,
                    map: &mut M,
                ) -> Result<(), M::Error> {
                    map.serialize_entry(key, &In(names, value))
                }
            }
        };
    };

    (
        $(#[doc = $table_doc:literal])+
        $table:ident = $name:literal, $title:literal $(, after $first:expr)?;
        for $ty:ident {$(
            $(#[doc = $doc:literal])+
            $member:ident: $member_ty:ty = $kind:expr, $need:expr;
        )+}
    ) => {
        pub(crate) static $table: $crate::scene_file::fields::Table = $crate::scene_file::fields::Table {
            name: $name,
            title: $title,
            doc: table!(@doc $($table_doc)+),
            fields: &[$($first,)? $(table!(@keys [$($doc)+] [$member] [$kind, $need] [])),+],
            tag: None,
        };

        const _: () = {
            use serde::ser::SerializeMap;
            use $crate::scene_file::keys::{Codec, Converter, Entries, Names, Plain, SetKeys, WriteKeys};

            impl SetKeys for $ty {
                fn set_keys(&mut self, from: &mut Converter<'_>, entries: &Entries) {
                    $(if entries.get(stringify!($member)).is_some() {
                        let value: Option<$member_ty> = Plain::read(from, entries, stringify!($member));
                        self.$member = value.unwrap_or(self.$member);
                    })+
                }
            }

            impl WriteKeys for $ty {
                fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
                    $(Plain::write(&self.$member, names, stringify!($member), map)?;)+
                    Ok(())
                }
            }
        };
    };

    (@tag) => { None };
    (@tag $tag:expr) => { Some($tag) };
    (@doc $($doc:literal)+) => { concat!($($doc),+).trim_ascii() };
    (@key $member:ident) => { stringify!($member) };
    (@key $member:ident $key:literal) => { $key };
    (@codec) => { $crate::scene_file::keys::Plain };
    (@codec $codec:ty) => { $codec };
    (@keys [$($doc:literal)+] [$($key:tt)+] [$kind:expr, $need:expr] []) => {
        &[table!(@field [$($doc)+] table!(@key $($key)+), $kind, $need)]
    };
    (@keys [$($doc:literal)+] [$($key:tt)+] [] [$keys:expr]) => { $keys };
    (@field [$($doc:literal)+] $key:expr, $kind:expr, $need:expr) => {{
        #[allow(unused_imports)]
        use $crate::scene_file::fields::{Field, Kind::*, Limits::*, Need::*};
        Field { key: $key, kind: $kind, need: $need, doc: $crate::scene_file::keys::table!(@doc $($doc)+) }
    }};
}

/// Declares an enum of the model and the key of the scene file that chooses between its variants. Members of variants are as in
/// [`table!`]; keys in brackets before and after them are read elsewhere.
macro_rules! variants {
    (
        $(#[doc = $enum_doc:literal])+
        $tag:ident = $tag_key:literal, $tag_doc:literal, $default:expr;
        $vis:vis enum $ty:ident {$(
            $(#[doc = $variant_doc:literal])+
            $variant:ident $word:literal $([$first:expr])? $({$(
                $(#[doc = $doc:literal])+
                $member:ident $(($key:literal))?: $member_ty:ty
                    $(= $kind:expr, $need:expr)? $(=> $keys:expr)? $(, with $codec:ty)?;
            )+})? $(+ [$last:expr])?,
        )+}
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $ty {$(
            $(#[doc = $variant_doc])+
            $variant $({$(
                $(#[doc = $doc])+
                $(#[doc = concat!("\n\nValue: `", stringify!($kind), "`.")])?
                $member: $member_ty,
            )+})?,
        )+}

        pub(crate) static $tag: $crate::scene_file::fields::Tag = $crate::scene_file::fields::Tag {
            key: $tag_key,
            doc: $tag_doc,
            default: $default,
            variants: &[$($crate::scene_file::fields::Variant {
                value: $word,
                doc: $crate::scene_file::keys::table!(@doc $($variant_doc)+),
                fields: &[
                    $($first,)?
                    $($($crate::scene_file::keys::table!(@keys
                        [$($doc)+] [$member $($key)?] [$($kind, $need)?] [$($keys)?]),)+)?
                    $($last,)?
                ],
            }),+],
        };

        const _: () = {
            use serde::ser::SerializeMap;
            #[allow(unused_imports)] // `table` where it is already in scope
            use $crate::scene_file::keys::{Codec, Converter, Entries, Names, Plain, ReadKeys, WriteKeys, table};

            impl ReadKeys for $ty {
                #[allow(unused_variables)]
                fn read_keys(from: &mut Converter<'_>, entries: &Entries) -> Option<Self> {
                    match entries.variant? {
                        $($word => {
                            $($(let $member: Option<$member_ty> =
                                <table!(@codec $($codec)?)>::read(from, entries, table!(@key $member $($key)?));)+)?
                            Some(Self::$variant $({ $($member: $member?,)+ })?)
                        })+
                        _ => None,
                    }
                }
            }

            impl WriteKeys for $ty {
                #[allow(unused_variables)]
                fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
                    match self {
                        $(Self::$variant $({ $($member,)+ })? => {
                            map.serialize_entry($tag_key, $word)?;
                            $($(<table!(@codec $($codec)?)>::write(
                                $member, names, table!(@key $member $($key)?), map)?;)+)?
                        })+
                    }
                    Ok(())
                }
            }

            /// Read from the keys of the table that has the tag.
            impl Codec<$ty> for Plain {
                fn read(from: &mut Converter<'_>, entries: &Entries, _: &'static str) -> Option<$ty> {
                    <$ty>::read_keys(from, entries)
                }

                fn write<M: SerializeMap>(
                    value: &$ty,
                    names: Names<'_>,
                    _: &'static str,
                    map: &mut M,
                ) -> Result<(), M::Error> {
                    value.write_keys(names, map)
                }
            }
        };
    };
}

pub(crate) use {codec, keys, table, variants, words};

#[cfg(test)]
mod tests;
