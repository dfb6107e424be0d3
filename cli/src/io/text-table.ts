/** Columns padded to the widest cell, two spaces between them; the last one is not padded. */
export const textTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .map((line) => line.trimEnd())
    .join('\n');
};
