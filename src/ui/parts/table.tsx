import type { ComponentChildren } from "preact";

interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** For figures. */
  right?: boolean;
}

interface TableProps<T> {
  /** What a screen reader calls it. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
}

export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  return (
    <div class="card scroll" tabIndex={0} role="region" aria-label={label}>
      {/* The roles say again what the elements are: a phone shows rows as blocks, which takes their meaning away. */}
      <table class="table" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, right }) => (
              <th key={title} role="columnheader" scope="col" class={right ? "right" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ title, cell, right }) => (
                <td key={title} role="cell" data-title={title} class={right ? "right" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
