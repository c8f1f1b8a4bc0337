/** The answer's own id in the words of this format. */
export function encodeCompletionId(messageId: string): string {
  return `chatcmpl-${messageId.replace(/^msg_/, '')}`;
}
