import { type Json, readText } from '../../json/upstream-json.ts';
import type { UpstreamOpener } from '../../upstream-call.ts';

/**
 * Returns a reasoning item as its upstream takes it back. Returns `undefined` for one of another
 * upstream, which would refuse the whole request because of it.
 */
export function openItem(item: Json, reasoning: UpstreamOpener | undefined): Json | undefined {
  const sealed = readText(item, 'encrypted_content');
  const opened = sealed === undefined ? undefined : reasoning?.open(sealed);
  if (opened === undefined || opened.upstream !== reasoning?.upstream) return undefined;
  const { reasoning: thought } = opened;
  if (thought.type !== 'reasoning') return undefined;
  // OpenAI never gives a thought a status, and refuses the request if it has one.
  const { id: _, status: __, ...rest } = item;
  return {
    ...rest,
    ...(thought.id !== undefined && { id: thought.id }),
    encrypted_content: thought.encrypted,
  };
}
