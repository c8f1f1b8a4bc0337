import { ApiProblem, readProblem, toProblem } from '../api/api-problem.ts';
import { BASE_URL } from './base-url.ts';
import { explainRefusal } from './explain-refusal.ts';
import type { KeyInfo } from './key-info.ts';

export interface OwnKey {
  readonly info: KeyInfo;
  /** The model names that the key may use in requests for answers. */
  readonly models: readonly string[];
}

interface ListedModel {
  readonly id: string;
  readonly embeddings?: boolean;
}

const ANSWER_TIME_MAX_MS = 30_000;
const MODELS_MAX = 1_000;
/** Other characters cannot be sent in a header. */
const KEY = /^[\x21-\x7e]+$/;

/** Throws an ApiProblem with a message to show. */
export async function readOwnKey(key: string): Promise<OwnKey> {
  if (!KEY.test(key)) {
    const facts = { status: 0, code: 'malformed_key' };
    throw new ApiProblem('A key has letters, digits and hyphens only, such as sk-gw2-….', facts);
  }
  const info = await read<KeyInfo>('/v1/key', key);
  const { data } = await read<{ data: ListedModel[] }>(`/v1/models?limit=${MODELS_MAX}`, key);
  const answering = data.filter(({ embeddings }) => embeddings !== true);
  return { info, models: answering.map(({ id }) => id) };
}

async function read<Answer>(path: string, key: string): Promise<Answer> {
  const signal = AbortSignal.timeout(ANSWER_TIME_MAX_MS);
  try {
    const response = await fetch(BASE_URL + path, { headers: { 'x-api-key': key }, signal });
    if (response.ok) return (await response.json()) as Answer;
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    const { status, code, message, requestId } = await readProblem(response);
    const words = explainRefusal({ status, message, retryAfter });
    throw new ApiProblem(words, { status, code, requestId });
  } catch (cause) {
    if (cause instanceof ApiProblem) throw cause;
    const { status, code, message } = toProblem(cause);
    throw new ApiProblem(explainRefusal({ status, message }), { status, code }, { cause });
  }
}
