import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiProblem, toProblem } from '../api/api-problem.ts';
import { untilVisible } from './until-visible.ts';

export interface Load<Value> {
  /** The last value that was read. It stays during the next read, and if that fails. */
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

interface LoadOptions {
  /** What is read. If one of these changes, the old value is dropped. */
  readonly of?: readonly (string | number | undefined)[];
  /** The time from the end of a read to the next one. Nothing is read again while it is unseen. */
  readonly refreshMs?: number;
  /** The code of a refusal that ends the refreshing: asking again would not change it. */
  readonly lastCode?: string;
}

interface LoadState<Value> {
  readonly key: string;
  readonly value?: Value;
  readonly problem?: ApiProblem;
  readonly isLoading: boolean;
}

/** Reads a value when the page opens. Each call reads on its own and waits for no other. */
export function useLoad<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  { of = [], refreshMs, lastCode }: LoadOptions = {},
): Load<Value> {
  const key = JSON.stringify(of);
  const [turn, setTurn] = useState(0);
  const [loaded, setLoaded] = useState<LoadState<Value>>({ key, isLoading: true });
  const reload = useCallback(() => setTurn((last) => last + 1), []);

  // `read` is a new function each time, so `key` says what it reads.
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoaded((last) =>
      last.key === key ? { ...last, isLoading: true } : { key, isLoading: true },
    );
    const settle = (next: (last: LoadState<Value>) => LoadState<Value>, code?: string) => {
      if (leaving.signal.aborted) return;
      setLoaded(next);
      if (refreshMs === undefined || (code !== undefined && code === lastCode)) return;
      timer = setTimeout(() => untilVisible(leaving.signal).then(reload, () => {}), refreshMs);
    };
    read(leaving.signal).then(
      (value) => settle(() => ({ key, value, isLoading: false })),
      (cause: unknown) => {
        const problem = toProblem(cause);
        settle((last) => ({ ...last, problem, isLoading: false }), problem.code);
      },
    );
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [key, turn, refreshMs]);

  const { value, problem, isLoading } = loaded.key === key ? loaded : { isLoading: true };
  return { value, problem, isLoading, reload };
}
