//! Tables of placed grains: one row per grain, in SI units, with a header line that names the columns. They may be written
//! by hand, by other programs, or from the end of another run.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, Place};
use crate::regular;
use crate::unit_vector::unit;

/// Maximum number of rows.
const MAX_ROWS: usize = 10_000_000;
/// Maximum line length [bytes].
const MAX_LINE: u64 = 10_000;

/// The columns, in the order of [`row`].
const COLUMNS: [&str; 14] =
    ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz", "scale"];

/// Groups of columns. The first group is required; the others are optional, but only as a whole.
const GROUPS: [std::ops::Range<usize>; 4] = [0..3, 3..7, 7..10, 10..13];

/// Grains placed one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrainTable {
    /// The grains, in file order; at least one.
    pub grains: Vec<PlacedGrain>,
}

/// A placed grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedGrain {
    /// Origin of its shape [m].
    pub position: [f64; 3],
    /// Rotation of its shape, a unit quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// Velocity of the centre of mass [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity in the world frame [rad/s].
    pub angular_velocity: [f64; 3],
    /// Scale factor of the shape [–].
    pub scale: f64,
}

impl GrainTable {
    /// Reads a CSV file: columns `x,y,z`, and optionally `qw,qx,qy,qz`, `vx,vy,vz`, `wx,wy,wz` and
    /// `scale`, in any order. Empty lines and lines that start with `#` are skipped.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = regular::open(path).map_err(Error::io("open", path))?;
        Self::parse(BufReader::new(file)).map_err(|failure| match failure {
            Failure::Io(source) => Error::Io { action: "read", path: path.to_owned(), source },
            Failure::Format(place, message) => Error::format(path, place, message),
        })
    }

    fn parse(mut reader: impl BufRead) -> Result<Self, Failure> {
        let mut columns: Option<Vec<usize>> = None;
        let mut grains = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let wrong = |message: String| Failure::Format(Place::Line(number), message);
            if read as u64 == MAX_LINE {
                return Err(wrong(format!("the line is longer than {MAX_LINE} bytes")));
            }
            let text =
                std::str::from_utf8(&line).map_err(|_| wrong("not valid UTF-8 text".into()))?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            match &columns {
                None => columns = Some(header(text).map_err(wrong)?),
                Some(_) if grains.len() == MAX_ROWS => {
                    return Err(wrong(format!("there are more than {MAX_ROWS} grains")));
                }
                Some(columns) => grains.push(row(text, columns).map_err(wrong)?),
            }
        }
        if grains.is_empty() {
            let message = match columns {
                None => "the file is empty",
                Some(_) => "there are no grains after the header line",
            };
            return Err(Failure::Format(Place::Whole, message.into()));
        }
        Ok(Self { grains })
    }
}

enum Failure {
    Io(std::io::Error),
    Format(Place, String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// The index in [`COLUMNS`] of each column of the file.
fn header(line: &str) -> Result<Vec<usize>, String> {
    let mut columns = Vec::new();
    for name in line.split(',').map(str::trim) {
        let Some(index) = COLUMNS.iter().position(|known| *known == name) else {
            let name: String = name.chars().take(40).collect();
            return Err(format!("unknown column `{name}`; the columns are {}", COLUMNS.join(",")));
        };
        if columns.contains(&index) {
            return Err(format!("the column `{name}` appears twice"));
        }
        columns.push(index);
    }
    for group in GROUPS {
        let found = group.clone().filter(|index| columns.contains(index)).count();
        if found != group.len() && (found > 0 || group.start == 0) {
            return Err(format!("the columns {} must be given together", COLUMNS[group].join(",")));
        }
    }
    Ok(columns)
}

fn row(line: &str, columns: &[usize]) -> Result<PlacedGrain, String> {
    let mut values = [0.0; COLUMNS.len()];
    (values[3], values[13]) = (1.0, 1.0); // no rotation, full size
    let mut words = line.split(',').map(str::trim);
    for &column in columns {
        let name = COLUMNS[column];
        let word = words.next().ok_or(format!("the value of `{name}` is missing"))?;
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        values[column] = value.ok_or_else(|| {
            let word: String = word.chars().take(40).collect();
            format!("`{name}` is not a number: `{word}`")
        })?;
    }
    if words.next().is_some() {
        return Err(format!("there are more than {} values in this line", columns.len()));
    }
    let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, scale] = values;
    let rotation = unit([qw, qx, qy, qz]).ok_or("the quaternion has zero length")?;
    if scale <= 0.0 {
        return Err(format!("`scale` must be greater than 0; got {scale}"));
    }
    Ok(PlacedGrain {
        position: [x, y, z],
        rotation,
        velocity: [vx, vy, vz],
        angular_velocity: [wx, wy, wz],
        scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<GrainTable, String> {
        GrainTable::parse(text.as_bytes()).map_err(|failure| match failure {
            Failure::Io(error) => error.to_string(),
            Failure::Format(place, message) => format!("file{place}: {message}"),
        })
    }

    #[test]
    fn columns_may_be_in_any_order_and_have_defaults() {
        let table = parse("# from a run\nz, y,x,scale\r\n\n3,2,1,0.5\n").unwrap();
        let grain = table.grains[0];
        assert_eq!(grain.position, [1.0, 2.0, 3.0]);
        assert_eq!((grain.rotation, grain.scale), ([1.0, 0.0, 0.0, 0.0], 0.5));
        let table = parse("x,y,z,qw,qx,qy,qz\n0,0,0,0,0,0,2").unwrap();
        assert_eq!(table.grains[0].rotation, [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn mistakes_in_tables_are_reported_with_their_line() {
        let message = |text: &str| parse(text).unwrap_err();
        assert!(message("").contains("empty"));
        assert!(message("x,y,z\n").contains("no grains"));
        assert!(message("x,y\n1,2").contains("x,y,z must be given together"));
        assert!(message("x,y,z,qw\n1,2,3,1").contains("qw,qx,qy,qz must be given together"));
        assert!(message("x,y,z,colour\n").contains("unknown column `colour`"));
        assert!(message("x,y,z,x\n").contains("twice"));
        assert_eq!(message("x,y,z\n1,2,three"), "file, line 2: `z` is not a number: `three`");
        assert!(message("x,y,z\n1,2").contains("`z` is missing"));
        assert!(message("x,y,z\n1,2,3,4").contains("more than 3"));
        assert!(message("x,y,z\n1,2,nan").contains("not a number"));
        assert!(message("x,y,z,scale\n1,2,3,0").contains("greater than 0"));
        assert!(message("x,y,z,qw,qx,qy,qz\n1,2,3,0,0,0,0").contains("zero length"));
        assert!(message(&"x".repeat(20_000)).contains("longer than"));
    }

    #[test]
    fn line_numbers_count_comments_and_blank_lines() {
        let text = "# a\n  # b\nx,y,z\n\n   \n1,2,three\n";
        assert_eq!(parse(text).unwrap_err(), "file, line 6: `z` is not a number: `three`");
        let bom = parse("\u{feff}x,y,z\n1,2,3").unwrap();
        assert_eq!(bom.grains[0].position, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn numbers_keep_their_bits() {
        let values = [0.1, -1.0 / 3.0, 1e-300];
        let [x, y, z] = values;
        let table = parse(&format!("x,y,z\n{x},{y},{z:e}\n")).unwrap();
        assert_eq!(table.grains[0].position.map(f64::to_bits), values.map(f64::to_bits));
    }

    #[test]
    fn hostile_tables_are_rejected_with_their_line() {
        let message = |text: &str| parse(text).unwrap_err();
        assert_eq!(message("x,y,z\n1,2,3\n1,,3"), "file, line 3: `y` is not a number: ``");
        assert!(message("x,y,z\n1,2,1e999").contains("`z` is not a number: `1e999`"));
        assert!(message("x,y,z\n1,2,-inf").contains("line 2"));
        assert!(message("x,y,z\n1;2;3").contains("`x` is not a number: `1;2;3`"));
        assert!(message("x;y;z\n").contains("unknown column `x;y;z`"));
        assert!(message("x,y,z,vx,vy\n1,2,3,4,5").contains("vx,vy,vz must be given together"));
        assert!(message("x,y,z,wz\n1,2,3,4").contains("wx,wy,wz must be given together"));
        assert!(message("x,y,z,scale\n1,2,3,-1").contains("got -1"));
        assert!(message(&format!("{}\n", "a".repeat(500))).len() < 200);
        let not_text = GrainTable::parse(&b"x,y,z\n1,2,3\n1,2,\xff\n"[..]);
        let Err(Failure::Format(place, message)) = not_text else { panic!() };
        assert_eq!(format!("{place}: {message}"), ", line 3: not valid UTF-8 text");
        // The file may end with or without a line end, in any convention.
        for end in ["", "\n", "\r\n", "\n\n# end\n"] {
            assert_eq!(parse(&format!("x,y,z\n1,2,3{end}")).unwrap().grains.len(), 1, "{end:?}");
        }
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn the_order_of_columns_does_not_change_the_grains(
                values in prop::array::uniform14(-1e3..1e3_f64),
                order in Just((0..14).collect::<Vec<usize>>()).prop_shuffle(),
            ) {
                let mut values = values;
                (values[3], values[13]) = (1.0 + values[3].abs(), 1e-3 + values[13].abs());
                let table = |order: &[usize]| {
                    let line = |word: &dyn Fn(usize) -> String| {
                        order.iter().map(|i| word(*i)).collect::<Vec<_>>().join(" , ")
                    };
                    let names = line(&|i| COLUMNS[i].to_owned());
                    parse(&format!("{names}\n{}", line(&|i| values[i].to_string()))).unwrap()
                };
                let straight = table(&(0..14).collect::<Vec<_>>());
                prop_assert_eq!(&table(&order), &straight);
                let grain = straight.grains[0];
                prop_assert_eq!(&grain.position[..], &values[..3]);
                prop_assert_eq!(&grain.velocity[..], &values[7..10]);
                prop_assert_eq!(&grain.angular_velocity[..], &values[10..13]);
                prop_assert_eq!(grain.scale, values[13]);
                let length: f64 = grain.rotation.iter().map(|x| x * x).sum();
                prop_assert!((length - 1.0).abs() < 1e-12);
                prop_assert!((grain.rotation[1] * values[3] - grain.rotation[0] * values[4]).abs() < 1e-9 * values[3].abs());
            }

            #[test]
            fn no_bytes_panic(content in prop::collection::vec(any::<u8>(), 0..300)) {
                let _ = GrainTable::parse(&content[..]);
                let mut with_header = b"x,y,z\n".to_vec();
                with_header.extend(content);
                let _ = GrainTable::parse(&with_header[..]);
            }
        }
    }
}
