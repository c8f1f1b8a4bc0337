/** How much of an answer is kept until its end, which repeats all of it. */
export const KEPT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * How far the events of one answer have come. Everything that writes events shares it: those of a
 * relayed stream come from its upstream, but the gateway itself reports a failure or a silence.
 */
export interface ResponseProgress {
  /** The number of the next event. */
  nextNumber: number;
  /** Empty until the answer has begun. */
  model: string;
  /** The items that are done, each as JSON. */
  items: string[];
}

export function createProgress(): ResponseProgress {
  return { nextNumber: 0, model: '', items: [] };
}

/** Says that an answer begins. An upstream that was asked before may have begun one as well. */
export function restart(progress: ResponseProgress, model: string): void {
  progress.nextNumber = 0;
  progress.model = model;
  progress.items = [];
}
