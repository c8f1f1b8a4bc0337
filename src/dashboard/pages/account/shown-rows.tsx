import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

const ROWS = 50;

interface ShownRowsProps<Row> {
  readonly rows: readonly Row[];
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

/** Shows the first rows of a complete list, and more on demand. */
export function ShownRows<Row>({ rows, children }: ShownRowsProps<Row>) {
  const [count, setCount] = useState(ROWS);
  return (
    <>
      {children(rows.slice(0, count))}
      {rows.length > count && (
        <button type="button" onClick={() => setCount(count + ROWS)}>
          Show more: {rows.length - count} are left
        </button>
      )}
    </>
  );
}
