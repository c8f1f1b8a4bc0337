/** A few upstreams send no id, and clients accept any. */
const NO_ID = 'unnamed';

/** The inverse of `encodeCompletionId`. */
export function decodeMessageId(completionId: string | undefined): string {
  const id = completionId?.replace(/^chatcmpl-/, '') || NO_ID;
  return id.startsWith('msg_') ? id : `msg_${id}`;
}
