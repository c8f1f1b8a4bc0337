/** What a model thought, with the signature by which its vendor recognises it, if it signs. */
export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature?: string | null;
}
