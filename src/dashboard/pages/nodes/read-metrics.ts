import { readProblem, toProblem } from '../../api/api-problem.ts';

/** Metrics need no token. */
export async function readMetrics(signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch('/metrics', { signal });
    if (!response.ok) throw await readProblem(response);
    return await response.text();
  } catch (cause) {
    throw toProblem(cause);
  }
}
