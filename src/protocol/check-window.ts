import { Refusal } from './refusals.ts';

interface WindowCheck {
  readonly inputTokens: number;
  /** 0 if the client named no maximum; the answer may then take what the window has left. */
  readonly outputTokens: number;
  readonly contextTokensMax: number;
}

/** Clients match on these texts and read the numbers in them, so no word may change. */
export function checkWindow({ inputTokens, outputTokens, contextTokensMax }: WindowCheck): void {
  if (inputTokens > contextTokensMax) {
    throw new Refusal(
      'context_too_long',
      `prompt is too long: ${inputTokens} tokens > ${contextTokensMax} maximum`,
      {
        param: 'messages',
        chatMessage: `This model's maximum context length is ${contextTokensMax} tokens. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
      },
    );
  }
  if (inputTokens + outputTokens > contextTokensMax) {
    throw new Refusal(
      'context_too_long',
      `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${outputTokens} > ${contextTokensMax}, decrease input length or \`max_tokens\` and try again`,
      {
        param: 'max_tokens',
        chatMessage: `This model's maximum context length is ${contextTokensMax} tokens. However, you requested ${inputTokens + outputTokens} tokens (${inputTokens} in the messages, ${outputTokens} in the completion). Please reduce the length of the messages or completion.`,
      },
    );
  }
}
