import { type CountNames, decodeInclusiveUsage } from '../../answers/decode-inclusive-usage.ts';

const NAMES: CountNames = {
  input: 'input_tokens',
  inputDetails: 'input_tokens_details',
  output: 'output_tokens',
  outputDetails: 'output_tokens_details',
};

export const decodeUsage = (value: unknown) => decodeInclusiveUsage(value, NAMES);
