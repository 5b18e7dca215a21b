//! Series as Parquet files, for tools that read columns: the same names and numbers as in the CSV file. Only with the feature `parquet`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::error::{Error, Place};

/// Writes a table with columns of texts and columns of numbers, in this order.
pub fn write(
    out: &Path,
    texts: &[(String, Vec<String>)],
    numbers: &[(String, Vec<f64>)],
) -> Result<(), Error> {
    let bytes = encode_mixed(texts, numbers)
        .map_err(|error| Error::Data { path: out.to_owned(), message: error.to_string() })?;
    crate::write_whole(out, &bytes)
}

fn encode_mixed(
    texts: &[(String, Vec<String>)],
    numbers: &[(String, Vec<f64>)],
) -> Result<Vec<u8>, ParquetError> {
    let field = |name: &str, physical, converted| {
        let column = Type::primitive_type_builder(name, physical).with_converted_type(converted);
        column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let text = |(name, _): &(String, _)| field(name, Physical::BYTE_ARRAY, ConvertedType::UTF8);
    let number = |(name, _): &(String, _)| field(name, Physical::DOUBLE, ConvertedType::NONE);
    let fields = texts.iter().map(text).chain(numbers.iter().map(number));
    let fields = fields.collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("bodies").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    for (_, column) in texts {
        let Some(mut of_column) = group.next_column()? else { break };
        let column: Vec<ByteArray> = column.iter().map(|text| text.as_str().into()).collect();
        of_column.typed::<ByteArrayType>().write_batch(&column, None, None)?;
        of_column.close()?;
    }
    for (_, column) in numbers {
        let Some(mut of_column) = group.next_column()? else { break };
        of_column.typed::<DoubleType>().write_batch(column, None, None)?;
        of_column.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// Converts a table with a line of headings, as [`crate::table::TableWriter`] writes it.
pub fn convert(csv: &Path, out: &Path) -> Result<(), Error> {
    let text = fs::read_to_string(csv).map_err(Error::io("read", csv))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut columns = vec![Vec::new(); names.len()];
    for (row, line) in lines.enumerate() {
        let place = Place::Line(row + 2);
        let mut numbers = line.split(',').map(str::parse::<f64>);
        for column in &mut columns {
            match numbers.next() {
                Some(Ok(number)) => column.push(number),
                _ => return Err(Error::format(csv, place, "one number per column is expected")),
            }
        }
        if numbers.next().is_some() {
            return Err(Error::format(csv, place, "there are more numbers than columns"));
        }
    }
    let bytes = encode(&names, &columns)
        .map_err(|error| Error::Data { path: out.to_owned(), message: error.to_string() })?;
    crate::write_whole(out, &bytes)
}

fn encode(names: &[&str], columns: &[Vec<f64>]) -> Result<Vec<u8>, ParquetError> {
    let field = |name: &&str| {
        let column = Type::primitive_type_builder(name, Physical::DOUBLE);
        column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let fields = names.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("series").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let Some(mut of_column) = group.next_column()? else { break };
        of_column.typed::<DoubleType>().write_batch(column, None, None)?;
        of_column.close()?;
    }
    group.close()?;
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::SerializedFileReader;
    use parquet::record::Field;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("riprap-parquet-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_series_has_the_same_columns_and_numbers() {
        let folder = folder("same");
        let (csv, out) = (folder.join("series.csv"), folder.join("series.parquet"));
        fs::write(&csv, "time [s],a.force_max [N]\n0,1e-300\n0.1,NaN\n0.30000000000000004,-inf\n")
            .unwrap();
        convert(&csv, &out).unwrap();
        let reader = SerializedFileReader::new(fs::File::open(&out).unwrap()).unwrap();
        let rows: Vec<Vec<(String, Field)>> =
            reader.into_iter().map(|row| row.unwrap().into_columns()).collect();
        let expected = [[0.0, 1e-300], [0.1, f64::NAN], [0.30000000000000004, f64::NEG_INFINITY]];
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(expected) {
            assert_eq!((row[0].0.as_str(), row[1].0.as_str()), ("time [s]", "a.force_max [N]"));
            for ((_, field), number) in row.iter().zip(expected) {
                let Field::Double(found) = field else { panic!("{field:?}") };
                assert_eq!(found.to_bits(), number.to_bits());
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_tables_are_refused_with_their_line() {
        let folder = folder("damaged");
        let csv = folder.join("series.csv");
        for (text, line) in [("a,b\n1,2\n3\n", 3), ("a\n1,2\n", 2), ("a\nx\n", 2)] {
            fs::write(&csv, text).unwrap();
            let error = convert(&csv, &folder.join("out")).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}")), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
