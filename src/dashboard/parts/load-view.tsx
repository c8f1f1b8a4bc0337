import type { ComponentChildren } from 'preact';
import type { Load } from '../loading/use-load.ts';
import { Problem } from './problem.tsx';

interface LoadViewProps<Value> {
  readonly load: Load<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows the value that was read, that it is being read, or why it could not be read. */
export function LoadView<Value>({ load, children }: LoadViewProps<Value>) {
  const { value, problem, isLoading, reload } = load;
  return (
    <>
      <Problem problem={problem} onRetry={reload} />
      {value !== undefined && children(value)}
      {value === undefined && isLoading && <p class="quiet">Loading…</p>}
    </>
  );
}
