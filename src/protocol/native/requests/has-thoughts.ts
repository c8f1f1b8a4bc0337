import type { ContentBlock, Message } from '../../inference.ts';
import { isUnsigned } from '../../own-signature.ts';
import { hasResults } from './has-results.ts';

/** Messages of one role in a row, which vendors read as one. */
interface Run {
  readonly role: Message['role'];
  /** The place of its first message. */
  readonly at: number;
  readonly messages: Message[];
}

/** Whether the calls whose results a model gets came with thoughts that are still there. */
export function hasThoughts(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const calls = messages[last]?.content ?? '';
  const isLoop = messages.slice(last + 1).some(hasResults);
  if (!isLoop || typeof calls === 'string') return true;
  const [first] = calls;
  return first !== undefined && isThought(first);
}

/** Whether any calls came without thoughts. */
export function lacksThoughts(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => {
    if (typeof content === 'string' || !content.some(({ type }) => type === 'tool_use'))
      return false;
    return !content.some(isThought);
  });
}

/**
 * Whether the turn that continues begins with a thought, as it must for thinking with a budget.
 * Later answers in it may have none: then the model simply had nothing to think about.
 */
export function beginsWithThought(messages: readonly Message[]): boolean {
  return findBeginnings(messages).every(({ messages: [message] }) => {
    const first = typeof message?.content === 'string' ? undefined : message?.content[0];
    return first !== undefined && isThought(first);
  });
}

/** For requests without thinking: vendors refuse thoughts in a turn that continues without it. */
export function dropTurnThoughts(messages: readonly Message[]): readonly Message[] {
  const [turn] = findBeginnings(messages);
  if (turn === undefined) return messages;
  return messages.flatMap((message, i) => {
    const { role, content } = message;
    if (i < turn.at || typeof content === 'string') return [message];
    const left = content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
    if (left.length === content.length) return [message];
    return left.length > 0 ? [{ role, content: left }] : [];
  });
}

/**
 * Where the turn that continues with the results at the end can begin. No vendor says whether a
 * text beside results begins another turn, so there may be two places, the earlier one first.
 */
function findBeginnings(messages: readonly Message[]): readonly Run[] {
  const runs = readRuns(messages);
  const last = runs.at(-1);
  if (last?.role !== 'user' || !last.messages.some(hasResults)) return [];
  const users = [
    runs.findLastIndex((run) => run.role === 'user' && !run.messages.some(hasResults)),
    runs.findLastIndex((run) => run.role === 'user' && !run.messages.every(hasOnlyResults)),
  ];
  return users.flatMap(
    (user) => runs.slice(user + 1).find(({ role }) => role === 'assistant') ?? [],
  );
}

/** A system message in between ends no run. */
function readRuns(messages: readonly Message[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [at, message] of messages.entries()) {
    const { role } = message;
    if (role === 'system') continue;
    const last = runs.at(-1);
    if (last?.role === role) last.messages.push(message);
    else runs.push({ role, at, messages: [message] });
  }
  return runs;
}

function hasOnlyResults({ content }: Message): boolean {
  return typeof content !== 'string' && content.every(({ type }) => type === 'tool_result');
}

function isThought(block: ContentBlock): boolean {
  if (block.type === 'thinking') return !isUnsigned(block);
  return block.type === 'redacted_thinking';
}
