//! A table in the making: rows are kept by column until they fill a group, then they are encoded.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::{Compression, Repetition, Type as PhysicalType};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::TypePtr;
use quipu_event::RunId;
use quipu_view::Shelf;

/// A group ends at so many rows …
const MOST_ROWS: usize = 64 * 1024;
/// … or when its values take so many bytes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A value of a row. What is absent is null; a required column takes it as empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Bytes(Option<Vec<u8>>),
    Number(Option<i64>),
    Real(Option<f64>),
}

/// A table of one run.
pub(super) struct Table {
    name: &'static str,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
    writer: Option<SerializedFileWriter<Written>>,
    written: Written,
}

/// The values of one column since the last group.
struct Column {
    required: bool,
    /// 1 where there is a value, 0 where there is none.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Bytes(Vec<ByteArray>),
    Numbers(Vec<i64>),
    Reals(Vec<f64>),
}

/// Encoded bytes on their way to a shelf.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Table {
    /// Begins a table whose columns `schema` names.
    pub(super) fn new(name: &'static str, schema: &str) -> Self {
        let schema = parse_message_type(schema).expect("the schemas in this crate are sound");
        let schema: TypePtr = Arc::new(schema);
        let columns = schema.get_fields().iter().map(Column::of).collect();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let written = Written::default();
        let writer = SerializedFileWriter::new(written.clone(), schema, properties.build().into());
        let writer = Some(writer.expect("memory takes what is written to it"));
        Table { name, columns, rows: 0, bytes: 0, writer, written }
    }

    /// Adds a row, with a value for each column.
    pub(super) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        for (column, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(cell);
        }
        self.rows += 1;
    }

    /// Adds rows.
    pub(super) fn extend(&mut self, rows: impl IntoIterator<Item = Vec<Cell>>) {
        rows.into_iter().for_each(|row| self.push(row));
    }

    /// Writes a group if there are enough rows for one.
    pub(super) fn make_room(&mut self, run: &RunId, shelf: &mut dyn Shelf) {
        if self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES {
            self.write_group();
            self.hand_over(run, shelf);
        }
    }

    /// Writes what is left, and the footer.
    pub(super) fn finish(&mut self, run: &RunId, shelf: &mut dyn Shelf) {
        self.write_group();
        if let Some(writer) = self.writer.take() {
            writer.close().expect("memory takes what is written to it");
        }
        self.hand_over(run, shelf);
    }

    fn write_group(&mut self) {
        let Some(writer) = self.writer.as_mut().filter(|_| self.rows > 0) else { return };
        let columns = &mut self.columns;
        let write = || -> Result<()> {
            let mut group = writer.next_row_group()?;
            for column in columns {
                let next = group.next_column()?;
                column.write(next.expect("a group has a place for every column"))?;
            }
            group.close()?;
            Ok(writer.flush()?)
        };
        write().expect("memory takes values of the types that the schema names");
        (self.rows, self.bytes) = (0, 0);
    }

    fn hand_over(&mut self, run: &RunId, shelf: &mut dyn Shelf) {
        let bytes = std::mem::take(&mut *self.written.bytes());
        if !bytes.is_empty() {
            shelf.append(&format!("{}/{run}.parquet", self.name), &bytes);
        }
    }
}

impl Column {
    fn of(field: &TypePtr) -> Self {
        let values = match field.get_physical_type() {
            PhysicalType::INT64 => Values::Numbers(Vec::new()),
            PhysicalType::DOUBLE => Values::Reals(Vec::new()),
            _ => Values::Bytes(Vec::new()),
        };
        let required = field.get_basic_info().repetition() == Repetition::REQUIRED;
        Column { required, levels: Vec::new(), values }
    }

    /// Adds a value; answers with about how many bytes it takes.
    fn push(&mut self, cell: Cell) -> usize {
        let mut bytes = 8;
        let present = match (&mut self.values, cell) {
            (Values::Bytes(all), Cell::Bytes(value)) => {
                let value = if self.required { Some(value.unwrap_or_default()) } else { value };
                bytes += value.as_ref().map_or(0, Vec::len);
                let present = value.is_some();
                all.extend(value.map(ByteArray::from));
                present
            }
            (Values::Numbers(all), Cell::Number(value)) => {
                let value = if self.required { Some(value.unwrap_or_default()) } else { value };
                all.extend(value);
                value.is_some()
            }
            (Values::Reals(all), Cell::Real(value)) => {
                all.extend(value);
                value.is_some()
            }
            (_, _) => unreachable!("rows have cells of the types that the schema names"),
        };
        if !self.required {
            self.levels.push(i16::from(present));
        }
        bytes
    }

    fn write(&mut self, mut writer: SerializedColumnWriter<'_>) -> Result<()> {
        let levels = std::mem::take(&mut self.levels);
        let levels = (!self.required).then_some(levels.as_slice());
        match &mut self.values {
            Values::Bytes(all) => {
                let values = std::mem::take(all);
                writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
            }
            Values::Numbers(all) => {
                let values = std::mem::take(all);
                writer.typed::<Int64Type>().write_batch(&values, levels, None)?;
            }
            Values::Reals(all) => {
                let values = std::mem::take(all);
                writer.typed::<DoubleType>().write_batch(&values, levels, None)?;
            }
        }
        writer.close()
    }
}

impl Written {
    fn bytes(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).field("rows", &self.rows).finish()
    }
}
