import type { ComponentChildren } from 'preact';
import type { Load } from '../use-load.ts';
import { Problem } from './problem.tsx';

interface LoadViewProps<Value> {
  readonly load: Load<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** What has been read, or that it is being read, or why it could not be. */
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
