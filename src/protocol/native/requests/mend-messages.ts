import { isBlank } from '../../fields/is-blank.ts';
import type { ContentBlock, Message } from '../../inference.ts';
import { isSealedThinking, isUnsigned } from '../../own-signature.ts';
import type { Opener } from '../../sealed-reasoning.ts';
import { FreeIds } from './free-ids.ts';

const ID_CHARS_MAX = 256;
const GOOD_ID = /^[a-zA-Z0-9_-]{0,256}$/;
/** Leaves room for a number after it. */
const MENDED_CHARS_MAX = ID_CHARS_MAX - 8;

/**
 * A conversation that went through other upstreams may contain what a native upstream refuses:
 * thinking that it did not sign, texts of white space, and tool ids with other characters. Sealed
 * thinking is opened; it is left out if it is not of a native upstream, or if `open` is absent.
 * Everything else stays as it is.
 */
export function mendMessages(
  messages: readonly Message[],
  open: Opener | undefined,
): readonly Message[] {
  if (areMended(messages)) return messages;
  const ids = new MendedIds();
  return messages.flatMap((message) => {
    const { role, content } = message;
    if (typeof content === 'string') return isBlankSaid(content) ? [] : [message];
    const mended = content.flatMap((block) => mendBlock(block, open, ids));
    const isSame =
      mended.length === content.length && mended.every((block, i) => block === content[i]);
    if (isSame) return [message];
    return mended.length > 0 ? [{ role, content: mended }] : [];
  });
}

/** Whether the messages need no repair. */
export function areMended(messages: readonly Message[]): boolean {
  return messages.every(({ content }) =>
    typeof content === 'string' ? !isBlankSaid(content) : !content.some(isBroken),
  );
}

/** Returns an id of a tool use that native clients and upstreams accept. */
export function mendToolId(id: string): string {
  if (GOOD_ID.test(id)) return id;
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, ID_CHARS_MAX);
}

function isBroken(block: ContentBlock): boolean {
  return isSealedThinking(block) || isUnsigned(block) || isBlankText(block) || !hasGoodId(block);
}

function hasGoodId(block: ContentBlock): boolean {
  if (block.type === 'tool_use') return GOOD_ID.test(block.id);
  return block.type !== 'tool_result' || GOOD_ID.test(block.tool_use_id);
}

/** Only the last message of an assistant may be empty. */
function isBlankSaid(content: string): boolean {
  return content !== '' && isBlank(content);
}

/** Only an assistant's, because those of others are refused. */
function isBlankText(block: ContentBlock): boolean {
  return block.type === 'text' && isBlank(block.text);
}

function mendBlock(
  block: ContentBlock,
  open: Opener | undefined,
  ids: MendedIds,
): readonly ContentBlock[] {
  if (isBlankText(block)) return [];
  if (!isSealedThinking(block)) return isUnsigned(block) ? [] : [mendId(block, ids)];
  const reasoning = open?.(block.signature)?.reasoning;
  return reasoning === undefined || reasoning.type === 'reasoning' ? [] : [reasoning];
}

function mendId(block: ContentBlock, ids: MendedIds): ContentBlock {
  if (block.type === 'tool_use') {
    const id = ids.mend(block.id);
    return id === block.id ? block : { ...block, id };
  }
  if (block.type === 'tool_result') {
    const id = ids.mend(block.tool_use_id);
    return id === block.tool_use_id ? block : { ...block, tool_use_id: id };
  }
  return block;
}

/** Gives each id of a conversation one of its own, even if two are the same once repaired. */
class MendedIds {
  readonly #free = new FreeIds();
  readonly #mended = new Map<string, string>();

  mend(id: string): string {
    const known = this.#mended.get(id);
    if (known !== undefined) return known;
    const wanted = GOOD_ID.test(id) ? id : mendToolId(id).slice(0, MENDED_CHARS_MAX);
    const mended = this.#free.take(wanted);
    this.#mended.set(id, mended);
    return mended;
  }
}
