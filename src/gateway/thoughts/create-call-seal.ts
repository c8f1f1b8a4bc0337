import type { ContentBlock, RequestOutline } from '../../protocol/inference.ts';
import { isSealedThinking } from '../../protocol/own-signature.ts';
import type {
  BoundThought,
  CallSeal,
  Opener,
  ReasoningVault,
} from '../../protocol/sealed-reasoning.ts';

interface SealTerms {
  readonly accountId: string;
  /** The pinned id of the model. */
  readonly model: string;
  readonly request: RequestOutline;
}

/** For the thoughts in one request, and in its answer. */
export function createCallSeal(
  vault: ReasoningVault,
  { accountId, model, request }: SealTerms,
): Omit<CallSeal, 'noteUpstream'> {
  const account = vault.sealOf(accountId);
  const seal: CallSeal['seal'] = (upstream, thought) => account.seal({ upstream, model }, thought);
  const last = findLastSealed(request);
  if (last === undefined) return { seal, open: account.open, origin: undefined, bound: [] };
  const open = openOnce(account.open);
  const bound = account.isReady() ? findBound(request, model, open) : [];
  return { seal, open, origin: open(last)?.upstream, bound };
}

function findLastSealed({ messages }: RequestOutline): string | undefined {
  for (let i = messages.length - 1; i >= 0; i--) {
    const sealed = sealedTextsOf(messages[i]?.content).at(-1);
    if (sealed !== undefined) return sealed;
  }
  return undefined;
}

/**
 * A model needs its own thoughts until its turn is over. The results of tools do not end a turn.
 * No model needs them in a later turn, and none needs those of another model.
 */
function findBound({ messages }: RequestOutline, model: string, open: Opener): BoundThought[] {
  const start = messages.findLastIndex(
    ({ role, content }) => role !== 'assistant' && !areResults(content),
  );
  return messages
    .slice(start + 1)
    .flatMap(({ content }) => sealedTextsOf(content))
    .map((sealed) => ({ sealed, opened: open(sealed) }))
    .filter(({ opened }) => opened === undefined || opened.model === model);
}

function areResults(content: string | readonly ContentBlock[]): boolean {
  return typeof content !== 'string' && content.every(({ type }) => type === 'tool_result');
}

function sealedTextsOf(content: string | readonly ContentBlock[] | undefined): string[] {
  if (content === undefined || typeof content === 'string') return [];
  return content.flatMap((block) => (isSealedThinking(block) ? [block.signature] : []));
}

/** The end of a sealed text is as good as random. */
const END_CHARS = 64;

/**
 * The same thoughts are asked for again when the request is written for an upstream. They are found
 * by their ends, because V8 hashes a long text by its length alone.
 */
function openOnce(open: Opener): Opener {
  const known = new Map<string, { readonly sealed: string; readonly opened: ReturnType<Opener> }>();
  return (sealed) => {
    const end = sealed.slice(-END_CHARS);
    const found = known.get(end);
    if (found?.sealed === sealed) return found.opened;
    const opened = open(sealed);
    known.set(end, { sealed, opened });
    return opened;
  };
}
