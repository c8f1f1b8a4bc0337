import { isObject } from '../../../schema.ts';
import { KEPT_CHARS_MAX, type ResponseProgress } from '../response-progress.ts';

/**
 * The items that a client was sent. Some clients read each item as it is done and others only the
 * end, so the end says the same, whatever its upstream says there. The end of a longer answer than
 * is kept is that of its upstream.
 */
export class ItemList {
  readonly #progress: ResponseProgress;
  /** Where each of the kept items stands in the output. */
  #places: unknown[] = [];
  /** Those that have begun, and are not done. */
  readonly #open = new Set<unknown>();
  #keptChars = 0;
  #hasText = false;

  constructor(progress: ResponseProgress) {
    this.#progress = progress;
  }

  /** Whether nothing was said in words, and nothing may still be. */
  get isSilent(): boolean {
    return !this.#hasText && this.#open.size === 0;
  }

  begin(place: unknown): void {
    this.#open.add(place);
  }

  end(place: unknown, item: unknown): void {
    this.#open.delete(place);
    this.#hasText ||= isObject(item) && saysText(item);
    const json = JSON.stringify(item);
    this.#keptChars += json.length;
    if (this.#keptChars <= KEPT_CHARS_MAX) {
      this.#progress.items.push(json);
      this.#places.push(place);
    } else {
      this.#progress.items = [];
      this.#places = [];
    }
  }

  /**
   * Lists all items for the end. Of the upstream's own list only those count that have begun and
   * whose end it never sent; all of it, if none was.
   */
  list(output: unknown): readonly unknown[] {
    const listed: readonly unknown[] = Array.isArray(output) ? output : [];
    const { items } = this.#progress;
    if (items.length === 0) return listed;
    const done = items.map((json, i) => [this.#places[i], JSON.parse(json) as unknown] as const);
    const open = [...listed.entries()].filter(([place]) => this.#open.has(place));
    return [...done, ...open]
      .sort(([one], [other]) => Number(one) - Number(other) || 0)
      .map(([, item]) => item);
  }
}

function saysText({ type, content }: Readonly<Record<string, unknown>>): boolean {
  if (type !== 'message' || !Array.isArray(content)) return false;
  return content.some((part) => isObject(part) && Boolean(part['text'] ?? part['refusal']));
}
