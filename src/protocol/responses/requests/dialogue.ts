import type { ContentBlock, Message, ToolResultBlock } from '../../inference.ts';
import { endWithUser } from '../../native/requests/end-with-user.ts';
import { FreeIds } from '../../native/requests/free-ids.ts';

/** Said for a call whose output never came: its turn was broken off. */
const NO_OUTPUT = 'There is no output: the call was broken off.';

/** What the assistant says in one go, and what it gets back. */
interface Turn {
  readonly said: ContentBlock[];
  readonly results: Map<string, ToolResultBlock | undefined>;
  readonly reply: ContentBlock[];
  hasResult: boolean;
  /** The answer that its last thoughts are of, if that is known. */
  lastThinker: string | undefined;
}

/**
 * Joins items into messages. The native format wants the results of all calls at the head of the
 * one message that follows them, and each id once.
 */
export class Dialogue {
  readonly #turns: Turn[] = [createTurn()];
  /** By the id that the client knows: the latest call, and the id that it has here. */
  readonly #calls = new Map<string, { readonly turn: Turn; readonly id: string }>();
  readonly #ids = new FreeIds();
  /** Results of calls that have a later one, and thoughts that led to nothing. */
  readonly replaced: unknown[] = [];

  addUser(blocks: readonly ContentBlock[]): void {
    for (const block of blocks) this.#last.reply.push(block);
  }

  addAssistant(blocks: readonly ContentBlock[]): void {
    if (blocks.length === 0) return;
    const { said } = this.#openTurn();
    for (const block of blocks) said.push(block);
  }

  /**
   * A client whose answer broke off after its thought may ask again with that thought. Vendors
   * refuse it beside the thought of the next answer.
   */
  addThoughts(thoughts: readonly ContentBlock[], thinker: string | undefined): void {
    if (thoughts.length === 0) return;
    const turn = this.#openTurn();
    const isOther = thinker !== undefined && (turn.lastThinker ?? thinker) !== thinker;
    while (isOther && isThought(turn.said.at(-1))) this.replaced.push(turn.said.pop());
    turn.lastThinker = thinker;
    for (const thought of thoughts) turn.said.push(thought);
  }

  addCall(clientId: string, name: string, input: Readonly<Record<string, unknown>>): void {
    const turn = this.#openTurn();
    const id = this.#ids.take(clientId);
    this.#calls.set(clientId, { turn, id });
    turn.results.set(id, undefined);
    turn.said.push({ type: 'tool_use', id, name, input });
  }

  /** Returns whether there is such a call. */
  addResult(clientId: string, content: readonly ContentBlock[]): boolean {
    const call = this.#calls.get(clientId);
    if (call === undefined) return false;
    const { turn, id } = call;
    const before = turn.results.get(id);
    if (before !== undefined) this.replaced.push(before);
    turn.hasResult = true;
    turn.results.set(id, {
      type: 'tool_result',
      tool_use_id: id,
      // Some native upstreams refuse a result without content, and all refuse an empty block.
      content: content.length > 0 ? content : '',
    });
    return true;
  }

  end(): readonly Message[] {
    const messages: Message[] = [];
    for (const { said, results, reply } of this.#turns) {
      if (said.length > 0) messages.push({ role: 'assistant', content: said });
      const blocks: ContentBlock[] = [];
      for (const [id, result] of results) blocks.push(result ?? createMissing(id));
      for (const block of reply) blocks.push(block);
      if (blocks.length > 0) messages.push({ role: 'user', content: simplify(blocks) });
    }
    return endWithUser(messages);
  }

  get #last(): Turn {
    const last = this.#turns.at(-1);
    if (last === undefined) throw new Error('a conversation has a turn');
    return last;
  }

  /** The turn that the assistant is in, which ends when somebody else has spoken. */
  #openTurn(): Turn {
    const last = this.#last;
    if (last.reply.length === 0 && !last.hasResult) return last;
    const turn = createTurn();
    this.#turns.push(turn);
    return turn;
  }
}

function createTurn(): Turn {
  return { said: [], results: new Map(), reply: [], hasResult: false, lastThinker: undefined };
}

function isThought(block: ContentBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

function createMissing(id: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: id, content: NO_OUTPUT, is_error: true };
}

function simplify(blocks: readonly ContentBlock[]): Message['content'] {
  const [first] = blocks;
  return blocks.length === 1 && first?.type === 'text' ? first.text : blocks;
}
