/** Clients take any id; a few upstreams give none. */
const NO_ID = 'unnamed';

/** The other way round than `encodeCompletionId`. */
export function decodeMessageId(completionId: string | undefined): string {
  const id = completionId?.replace(/^chatcmpl-/, '') || NO_ID;
  return id.startsWith('msg_') ? id : `msg_${id}`;
}
