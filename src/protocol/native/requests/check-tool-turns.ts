import type { Message, ToolResultBlock, ToolUseBlock } from '../../inference.ts';
import { Refusal } from '../../refusals.ts';

/** A body has room for far more ids than a refusal should name. */
const IDS_NAMED_MAX = 20;

/** A block, and the place to name in a refusal: `messages.1`, `messages.2.content.0`. */
interface BlockPlace<Block> {
  readonly path: string;
  readonly block: Block;
}

/** Consecutive messages of one role are one turn. */
interface Turn {
  readonly role: Message['role'];
  readonly uses: BlockPlace<ToolUseBlock>[];
  readonly results: BlockPlace<ToolResultBlock>[];
}

/**
 * Checks that every tool use has exactly one result in the next turn, and that there are no other
 * results.
 */
export function checkToolTurns(messages: readonly Message[]): void {
  if (!messages.some(usesTools)) return;
  const turns = readTurns(messages);
  const idsUsed = new Set<string>();
  let open: readonly BlockPlace<ToolUseBlock>[] = [];
  for (const { uses, results } of turns) {
    checkResults(results, open);
    checkAnswered(open, results);
    for (const { path, block } of uses) {
      if (idsUsed.has(block.id)) throw refuse(path, '`tool_use` ids must be unique');
      idsUsed.add(block.id);
    }
    open = uses;
  }
  checkAnswered(open, []);
}

function usesTools({ content }: Message): boolean {
  if (typeof content === 'string') return false;
  return content.some(({ type }) => type === 'tool_use' || type === 'tool_result');
}

function refuse(param: string, message: string): Refusal {
  return new Refusal('invalid_request', message, { param });
}

function readTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    // A system message in between ends no turn.
    if (role === 'system') continue;
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, uses: [], results: [] };
      turns.push(turn);
    }
    if (typeof content === 'string') continue;
    for (const [j, block] of content.entries()) {
      if (block.type === 'tool_use') turn.uses.push({ path: `messages.${i}`, block });
      if (block.type === 'tool_result') {
        turn.results.push({ path: `messages.${i}.content.${j}`, block });
      }
    }
  }
  return turns;
}

function checkResults(
  results: readonly BlockPlace<ToolResultBlock>[],
  open: readonly BlockPlace<ToolUseBlock>[],
): void {
  const idsOpen = new Set(open.map(({ block }) => block.id));
  const idsAnswered = new Set<string>();
  for (const { path, block } of results) {
    const id = block.tool_use_id;
    if (!idsOpen.has(id)) {
      throw refuse(
        path,
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (idsAnswered.has(id)) {
      throw refuse(
        path,
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    idsAnswered.add(id);
  }
}

function checkAnswered(
  open: readonly BlockPlace<ToolUseBlock>[],
  results: readonly BlockPlace<ToolResultBlock>[],
): void {
  const idsAnswered = new Set(results.map(({ block }) => block.tool_use_id));
  const unanswered = open.filter(({ block }) => !idsAnswered.has(block.id));
  const path = unanswered[0]?.path;
  if (path === undefined) return;
  const ids = unanswered
    .slice(0, IDS_NAMED_MAX)
    .map(({ block }) => block.id)
    .join(', ');
  throw refuse(
    path,
    `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}
