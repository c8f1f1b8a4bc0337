/**
 * FAST TWIN of `src/protocol/native/requests/encode-request.ts`.
 * Held equal by `test/unit/protocol/native/requests/splice-request.test.ts`.
 * Gain: 196 to 1.14 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { isDropped } from '../../fields/check-fields.ts';
import { hasItems } from '../../fields/has-items.ts';
import { UNSET } from '../../fields/or-unset.ts';
import { type KeepMember, spliceMembers } from '../../json/splice-json.ts';
import type { UpstreamCallOutline } from '../../upstream-call.ts';
import { NATIVE_FIELDS } from './decode-request.ts';
import { fitThinking, takesSystem } from './encode-request.ts';
import { areMended } from './mend-messages.ts';
import { saysSystem } from './say-as-user.ts';

/**
 * Writes the same body as `encodeNativeRequest` for a request that came in the native format, but
 * from its bytes. Returns `undefined` if more of it changes than the model, the length of the
 * answer and `stream`.
 */
export function spliceNativeRequest(
  call: UpstreamCallOutline,
  vendorModel: string,
): readonly Uint8Array[] | undefined {
  const { request, outputTokensMax, source, isStream } = call;
  if (source === undefined) return undefined;
  if (fitThinking(call) !== request.passedOn['thinking']) return undefined;
  if (!areMended(request.messages)) return undefined;
  if (!takesSystem(call) && saysSystem(request.messages)) return undefined;
  const said = `"model":${JSON.stringify(vendorModel)},"max_tokens":${outputTokensMax},"stream":${isStream}`;
  return spliceMembers(source, said, call.dropsUnknown === true ? isKnownAndKept : isKept);
}

/** Leaves out empty fields, because some upstreams refuse them. */
const isKept: KeepMember = (name, fields) => {
  switch (name) {
    case 'model':
    case 'max_tokens':
    case 'stream':
      return false;
    case 'system':
    case 'temperature':
    case 'tool_choice':
    case 'cache_control':
      return fields[name] !== null;
    case 'top_p':
    case 'top_k':
      return fields[name] !== null && fields[name] !== UNSET;
    case 'stop_sequences':
    case 'tools':
      return hasItems(fields[name]);
    default:
      return !isDropped(name, NATIVE_FIELDS);
  }
};

const isKnownAndKept: KeepMember = (name, fields) =>
  NATIVE_FIELDS.has(name) && isKept(name, fields);
