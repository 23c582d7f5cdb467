// Plain tables: the first column to the left, the others to the right.

/** @param {(string | undefined)[][]} rows the first one is the heading */
export function formatTable(rows) {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...rows.map((row) => (row[i] ?? '').length)),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, i) => (i === 0 ? (row[i] ?? '').padEnd(width) : (row[i] ?? '').padStart(width)))
      .join('  ')
      .trimEnd(),
  );
  const rule = '-'.repeat(Math.max(...lines.map((line) => line.length)));
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
