import { type CountNames, decodeInclusiveUsage } from '../../answers/decode-inclusive-usage.ts';

const NAMES: CountNames = {
  input: 'prompt_tokens',
  inputDetails: 'prompt_tokens_details',
  output: 'completion_tokens',
  outputDetails: 'completion_tokens_details',
};

export const decodeUsage = (value: unknown) => decodeInclusiveUsage(value, NAMES);
