import { encodeToolTerms } from '../../fields/encode-tool-terms.ts';
import type { InferenceRequest, Tool } from '../../inference.ts';

export function encodeTools(request: Pick<InferenceRequest, 'tools' | 'toolChoice'>) {
  return encodeToolTerms(request, SPELLING);
}

const SPELLING = {
  write: ({ description, input_schema: parameters }: Tool, name: string) => ({
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      parameters,
    },
  }),
  choose: (name: string) => ({ type: 'function', function: { name } }),
};
