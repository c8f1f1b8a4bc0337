/** A few upstreams send no id, and clients accept any. */
const NO_ID = 'unnamed';

/** The inverse of how answers of the native format are named for clients of another one. */
export function decodeMessageId(id: string | undefined, prefix: 'chatcmpl-' | 'resp_'): string {
  const bare = (id?.startsWith(prefix) ? id.slice(prefix.length) : id) || NO_ID;
  return bare.startsWith('msg_') ? bare : `msg_${bare}`;
}
