import { afterAll } from 'vitest';
import type { CleanUp } from './create-temp-dir.ts';

/** Cleans up what all tests of a file share: after the last test, in reverse order. */
export function useCleanUp(): CleanUp {
  const undos: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });
  return (undo) => {
    undos.push(undo);
  };
}
