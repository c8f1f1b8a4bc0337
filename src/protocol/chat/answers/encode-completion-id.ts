/** Writes the answer's id in the style of the chat format. */
export function encodeCompletionId(messageId: string): string {
  return `chatcmpl-${messageId.replace(/^msg_/, '')}`;
}
