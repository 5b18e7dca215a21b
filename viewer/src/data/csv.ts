// `series.csv`: one header line with units, then numbers. The file may grow, and its last line may be
// incomplete while the run writes it.

/** Columns of a series; the first one is the time [s]. */
export class Series {
  names: string[] = [];
  columns: number[][] = [];
  private rest = "";

  /** Adds text of the file, which may end within a line. */
  append(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.addLine(line.trimEnd());
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
    cells.forEach((cell, i) => this.columns[i].push(cell === "" ? NaN : Number(cell)));
  }
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
