import type { Json } from '../../../json/upstream-json.ts';
import { KEPT_CHARS_MAX } from '../response-progress.ts';
import { PARTS_MAX } from '../upstream-item.ts';

interface BareItem {
  readonly type: string;
  readonly id: unknown;
  readonly content: Map<unknown, BareText>;
  readonly summary: Map<unknown, BareText>;
}

interface BareText {
  readonly type: unknown;
  text: string;
}

interface Piece {
  readonly list: 'content' | 'summary';
  /** The number of the part in its list. */
  readonly index: unknown;
  readonly type: unknown;
  readonly said: string;
}

/**
 * The items that an upstream sends in pieces, without their beginning. It may not send their end
 * either, so their texts are kept. A longer answer than is kept stays without these ends.
 */
export class BareItems {
  readonly #items = new Map<unknown, BareItem>();
  #keptChars = 0;

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  begin(place: unknown, type: string, id: unknown): void {
    if (this.#items.has(place) || this.#keptChars > KEPT_CHARS_MAX) return;
    this.#items.set(place, { type, id, content: new Map(), summary: new Map() });
  }

  add(place: unknown, { list, index, type, said }: Piece): void {
    const parts = this.#items.get(place)?.[list];
    if (parts === undefined) return;
    this.#keptChars += said.length;
    const part = parts.get(index) ?? { type, text: '' };
    if (this.#keptChars > KEPT_CHARS_MAX || parts.size > PARTS_MAX) {
      this.#items.clear();
      return;
    }
    part.text += said;
    parts.set(index, part);
  }

  end(place: unknown): void {
    this.#items.delete(place);
  }

  /** Returns those without an end, each with its place. */
  list(): readonly (readonly [place: unknown, item: Json])[] {
    return [...this.#items].map(([place, { type, id, content, summary }]) => [
      place,
      { type, id, ...listParts({ content, summary }, type) },
    ]);
  }
}

function listParts({ content, summary }: Pick<BareItem, 'content' | 'summary'>, type: string) {
  const ofContent = [...content.values()].map(encodePart);
  if (type === 'message') return { status: 'completed', content: ofContent };
  const ofSummary = [...summary.values()].map(encodePart);
  return { summary: ofSummary, ...(ofContent.length > 0 && { content: ofContent }) };
}

const encodePart = ({ type, text }: BareText) =>
  type === 'refusal' ? { type, refusal: text } : { type, text };
