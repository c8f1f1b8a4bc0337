import { isObject } from '../../schema.ts';

type PartKind = 'text' | 'thinking';

interface Part {
  readonly kind: PartKind;
  readonly said: string;
}

/** Joins what the parts of one kind say; empty if the content is not a list of parts. */
export function joinSaid(content: unknown, kind: PartKind): string {
  if (!Array.isArray(content)) return '';
  const parts = content.map(readPart);
  return parts.map((part) => (part?.kind === kind ? part.said : '')).join('');
}

/** Returns `undefined` if a part is of a kind that is not read. */
export function readPart(part: unknown): Part | undefined {
  if (!isObject(part)) return undefined;
  const { type, text, thinking } = part;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', said: text };
  if (type !== 'thinking') return undefined;
  if (Array.isArray(thinking)) return { kind: 'thinking', said: joinSaid(thinking, 'text') };
  return typeof thinking === 'string' ? { kind: 'thinking', said: thinking } : undefined;
}
