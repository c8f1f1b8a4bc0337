import { useState } from 'preact/hooks';
import { type ApiProblem, toProblem } from './api/api-problem.ts';

export interface Action {
  readonly isRunning: boolean;
  /** Of the last run. */
  readonly problem: ApiProblem | undefined;
  /** Does nothing while it runs already. */
  run(): void;
}

/** Something that changes things: run once at a time, its refusal kept for where it was asked for. */
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
