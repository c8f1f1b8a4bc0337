import { useState } from 'preact/hooks';
import { type ApiProblem, toProblem } from '../api/api-problem.ts';

export interface Action {
  readonly isRunning: boolean;
  /** The problem of the last run. */
  readonly problem: ApiProblem | undefined;
  /** Does nothing while the action is running. */
  run(): void;
}

/**
 * An action that changes something. It runs once at a time, and keeps its problem to show it where
 * the action was started.
 */
export function useAction(act: () => Promise<void>): Action {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | undefined>();
  const run = () => {
    if (isRunning) return;
    setRunning(true);
    setProblem(undefined);
    act()
      .catch((cause: unknown) => setProblem(toProblem(cause)))
      .finally(() => setRunning(false));
  };
  return { isRunning, problem, run };
}
