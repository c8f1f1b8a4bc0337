import { useEffect, useRef, useState } from 'preact/hooks';
import { followAnswer, type PlaygroundAnswer, type PlaygroundCall } from './follow-answer.ts';

export interface AnswerControl {
  /** Undefined before the first request. */
  readonly answer: PlaygroundAnswer | undefined;
  readonly isRunning: boolean;
  send(call: PlaygroundCall): void;
  cancel(): void;
}

/** Runs one request at a time; leaving the page cancels it. */
export function useAnswer(): AnswerControl {
  const [answer, setAnswer] = useState<PlaygroundAnswer | undefined>();
  const leaving = useRef<AbortController | undefined>(undefined);
  const cancel = () => leaving.current?.abort();
  useEffect(() => cancel, []);
  return {
    answer,
    isRunning: answer?.state === 'sending' || answer?.state === 'arriving',
    cancel,
    send(call) {
      cancel();
      const now = new AbortController();
      leaving.current = now;
      void followAnswer(call, now.signal, (next) => {
        if (leaving.current === now) setAnswer(next);
      });
    },
  };
}
