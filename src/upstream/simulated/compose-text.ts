import { pickWord } from './generating/generate-string.ts';
import { pickOne, type Random } from './random.ts';
import type { Conversation } from './read-conversation.ts';
import { splitTokens } from './split-tokens.ts';

const QUOTE_CHARS_MAX = 60;
const QUOTED_RESULTS_MAX = 3;

const GREETINGS = ['Hello!', 'Hi there!', 'Good to hear from you!'] as const;
const WISHES = [
  'For answers from a real model, add an upstream with its url and api_key to the settings file.',
  'Name an upstream with its url and api_key in the settings file, and a real model answers here.',
] as const;

/** The answer that a newcomer sees first. */
export function composeReply(model: string, conversation: Conversation, random: Random): string {
  const quoted = quote(conversation.userText);
  const results = conversation.toolResults.slice(0, QUOTED_RESULTS_MAX).map((result) => {
    const said = quote(result.text) ?? 'nothing';
    return result.isError
      ? `The tool ${result.toolName} failed and said ${said}.`
      : `The tool ${result.toolName} said ${said}.`;
  });
  if (results.length > 0) {
    return `${results.join(' ')} That is all that the simulated ${model} of this gateway needs to go on.`;
  }
  const heard = quoted === undefined ? '' : ` You wrote ${quoted}.`;
  return `${pickOne(GREETINGS, random)} This is the simulated ${model} of this gateway.${heard} ${pickOne(WISHES, random)}`;
}

export function composeThought(conversation: Conversation): string {
  const quoted = quote(conversation.userText) ?? 'nothing in particular';
  return `The user wrote ${quoted}. As a simulated model I have no need to think about it, but I was asked to.`;
}

/** A text of exactly this many tokens. */
export function composeTokens(tokens: number, random: Random): string {
  const words: string[] = [];
  // Every word is one token, with the space before it.
  for (let i = 0; i < tokens; i++) words.push(pickWord(random));
  return words.join(' ');
}

export function announceCalls(names: readonly string[]): string {
  return names.length === 1
    ? `Let me use the tool ${names[0]}.`
    : `Let me use the tools ${names.join(' and ')}.`;
}

export function cutToTokens(text: string, tokensMax: number): string {
  return splitTokens(text).slice(0, tokensMax).join('');
}

function quote(text: string): string | undefined {
  // Enough for the quote, whatever the size of the text. Cuts between characters, not within one.
  const start = Array.from(
    text
      .slice(0, 8 * QUOTE_CHARS_MAX)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  if (start.length === 0) return undefined;
  if (start.length <= QUOTE_CHARS_MAX) return `“${start.join('')}”`;
  const cut = start.slice(0, QUOTE_CHARS_MAX).join('');
  return `“${cut.replace(/ \S*$/, '')}…”`;
}
