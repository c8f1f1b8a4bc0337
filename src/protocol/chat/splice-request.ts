import { type KeepMember, spliceJson } from '../splice-json.ts';
import type { AskedCall } from '../upstream-call.ts';
import type { ChatMessage } from './chat-request.ts';
import { isBlank } from './decode-content.ts';
import { FIELDS_FOR_CHAT } from './decode-request.ts';
import { encodeUser, type OutputLimitField } from './encode-request.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * What `encodeChatRequest` makes of a request that came in the chat format, without writing its messages again.
 * `undefined` where they are not all of the one kind that is the same on both sides: somebody says a text.
 */
export function spliceChatRequest(
  call: AskedCall,
  vendorModel: string,
  outputLimitField: OutputLimitField,
): Buffer | undefined {
  const { request, outputTokensMax, source, isStream } = call;
  if (source === undefined || !areTexts(source.value['messages'])) return undefined;
  let said = `"model":${JSON.stringify(vendorModel)},"${outputLimitField}":${outputTokensMax},"stream":${isStream}`;
  if (isStream) said += ',"stream_options":{"include_usage":true}';
  const { stopSequences, tools } = request;
  if (stopSequences.length > 0) said += `,"stop":${JSON.stringify(stopSequences)}`;
  if (tools.length > 0) said += `,${JSON.stringify(encodeTools(request)).slice(1, -1)}`;
  const user = encodeUser(request);
  if (user !== undefined) said += `,"user":${JSON.stringify(user)}`;
  return spliceJson(source, said, isKept);
}

const isKept: KeepMember = (name, fields) => {
  if (name === 'messages') return true;
  return (name === 'top_p' || FIELDS_FOR_CHAT.includes(name)) && fields[name] !== null;
};

/** One who instructs, at the head alone; then users and assistants, who say something. */
export function areTexts(messages: unknown): boolean {
  const all = messages as readonly ChatMessage[];
  for (let i = 0; i < all.length; i++) if (!isText(all[i], i === 0)) return false;
  return true;
}

function isText(message: ChatMessage | undefined, isFirst: boolean): boolean {
  if (message === undefined || typeof message.content !== 'string') return false;
  const { role, content } = message;
  const isKnown = role === 'user' || role === 'assistant' || (role === 'system' && isFirst);
  return isKnown && Object.keys(message).length === 2 && !isBlank(content);
}
