import { encodeToolTerms } from '../../fields/encode-tool-terms.ts';
import type { InferenceRequest, Tool } from '../../inference.ts';

export function encodeTools(request: Pick<InferenceRequest, 'tools' | 'toolChoice'>) {
  return encodeToolTerms(request, SPELLING);
}

const SPELLING = {
  /** Without `strict`, upstreams take only part of JSON Schema. */
  write: ({ description, input_schema: parameters }: Tool, name: string) => ({
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    parameters,
    strict: false,
  }),
  choose: (name: string) => ({ type: 'function', name }),
};
