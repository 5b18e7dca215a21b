// `series.csv`: one header line with units, then numbers. The file may grow, and its last line may be
// incomplete while the run writes it. Of long files, the smallest and the largest values of groups of rows are kept.

/** Numbers kept in memory, at most. */
const NUMBERS = 8_000_000;

/** Columns of a series; the first one is the time [s]. */
export class Series {
  names: string[] = [];
  columns: number[][] = [];
  private rest = "";
  /** Rows of the file from which two are kept; 1 as long as all are. */
  private span = 1;
  private group: number[][] = [];

  constructor(private readonly limit = NUMBERS) {}

  /** Adds text of the file, which may end within a line. */
  append(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.addLine(line.trimEnd());
    // The last rows are shown at once.
    this.close();
  }

  get rows(): number {
    return this.columns[0]?.length ?? 0;
  }

  private addLine(line: string): void {
    if (line === "") return;
    const cells = splitCells(line);
    if (this.names.length === 0) {
      this.names = cells;
      this.columns = cells.map(() => []);
      return;
    }
    // A line with the wrong number of cells is damaged and is left out as a whole.
    if (cells.length !== this.names.length) return;
    this.addRow(cells.map((cell) => (cell === "" ? NaN : Number(cell))));
  }

  private addRow(row: number[]): void {
    if (this.span === 1) this.keep(row);
    else {
      this.group.push(row);
      if (this.group.length >= this.span) this.close();
    }
    if (this.rows * this.names.length > this.limit) this.thin();
  }

  /** Keeps two rows of the current group. */
  private close(): void {
    for (const row of this.group.length > 2 ? extremes(this.group) : this.group) this.keep(row);
    this.group = [];
  }

  private keep(row: number[]): void {
    row.forEach((value, i) => this.columns[i].push(value));
  }

  /** Replaces four rows by two. */
  private thin(): void {
    const { columns, rows } = this;
    this.columns = this.names.map(() => []);
    for (let k = 0; k < rows; k += 4) {
      const end = Math.min(rows, k + 4);
      const four = Array.from({ length: end - k }, (_, j) => columns.map((column) => column[k + j]));
      for (const kept of four.length > 2 ? extremes(four) : four) this.keep(kept);
    }
    this.span = this.span === 1 ? 4 : 2 * this.span;
  }
}

/** Two rows with the smallest and the largest value of each column in the order in which they occur, and with the first and the last time. */
function extremes(rows: number[][]): [number[], number[]] {
  const [first, second] = [[...rows[0]], [...rows[rows.length - 1]]];
  for (let i = 1; i < first.length; i++) {
    let [low, high] = [-1, -1];
    rows.forEach((row, k) => {
      if (low < 0 ? !Number.isNaN(row[i]) : row[i] < rows[low][i]) low = k;
      if (high < 0 ? !Number.isNaN(row[i]) : row[i] > rows[high][i]) high = k;
    });
    if (low < 0) continue;
    first[i] = rows[Math.min(low, high)][i];
    second[i] = rows[Math.max(low, high)][i];
  }
  return [first, second];
}

/** Cells of a line; a cell may be quoted, with `""` for a quote. */
export function splitCells(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (line[i + 1] === '"') cell += line[++i];
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ",") {
      cells.push(cell.trim());
      cell = "";
    } else cell += c;
  }
  cells.push(cell.trim());
  return cells;
}

/** Name and unit of a header such as `kinetic_energy [J]`. */
export function splitUnit(header: string): { name: string; unit: string } {
  const match = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(header);
  return match ? { name: match[1], unit: match[2] } : { name: header, unit: "" };
}
