type PassingValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, boolean>>;

/**
 * What happens to a field that changes what a vendor bills, or that asks the vendor to store
 * something.
 */
export interface FieldRule {
  readonly field: string;
  /** Values that mean the same as leaving the field out, as do `null` and an empty list. */
  readonly passes: readonly PassingValue[];
  /** What happens to other values. `dropped`: the answer is the same without the field. */
  readonly others: 'refused' | 'dropped';
  readonly why: string;
}

const rule = (
  others: FieldRule['others'],
  why: string,
  fields: readonly string[],
  passes: FieldRule['passes'] = [],
): readonly FieldRule[] => fields.map((field) => ({ field, passes, others, why }));

const GOES_FIRST = 'it would choose the server, or jump the queue';

/**
 * Applies to the bodies of all formats, because an upstream may be a gateway to vendors of either.
 * Vendors charge for these fields or for what they start, or have to store something.
 */
export const FIELD_RULES: readonly FieldRule[] = [
  ...rule(
    'refused',
    'another tier has another price',
    ['service_tier'],
    ['auto', 'default', 'standard', 'standard_only', 'flex'],
  ),
  ...rule('refused', 'fast answers cost several times as much', ['speed'], ['standard']),
  ...rule('refused', 'a chosen region costs more', ['inference_geo'], ['global']),
  ...rule('refused', 'each further answer is billed', ['n', 'n_cmpl', 'best_of'], [1]),
  ...rule('refused', 'each beam is billed', ['use_beam_search'], [false]),
  ...rule('refused', 'sound and images are priced separately', ['modalities'], [['text']]),
  ...rule('refused', 'sound is priced separately', ['audio']),
  ...rule('refused', 'searches are billed one by one', [
    ...['web_search_options', 'search_parameters', 'search_settings', 'data_sources', 'plugins'],
  ]),
  ...rule(
    'refused',
    'a search is billed',
    [
      ...['enable_search', 'enable_enhancement', 'force_search_enhancement'],
      ...['enable_speed_search', 'enable_deep_search', 'enable_deep_read'],
    ],
    [false],
  ),
  ...rule('refused', 'a search is billed', ['web_search'], [false, { enable: false }]),
  ...rule('refused', 'the vendor runs the model again after each tool result', ['mcp_servers']),
  ...rule('refused', 'a sandbox is billed by the hour, and keeps state', ['container']),
  ...rule('refused', 'a summary is another run of the model', ['compaction']),
  ...rule('refused', 'another model is called, at another price', [
    ...['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks', 'moderation'],
    'lora_path',
  ]),
  ...rule('refused', 'somebody else would be billed', ['billing_policy']),
  ...rule('refused', 'the server would have to store the conversation', [
    ...['thread', 'previous_response_id', 'conversation'],
  ]),
  ...rule('refused', 'the answer would be kept for later', ['background', 'deferred'], [false]),
  ...rule('refused', 'it would choose another provider or model, at another price', [
    ...['api_base', 'api_key', 'api_version', 'base_url', 'custom_llm_provider', 'deployment_id'],
    ...['extra_body', 'extra_headers', 'litellm_params', 'mock_testing_fallbacks', 'model_list'],
    ...['models', 'preset', 'provider', 'providerOptions', 'route', 'user_config'],
  ]),
  ...rule('refused', GOES_FIRST, ['priority'], [0]),
  ...rule('refused', GOES_FIRST, ['id_slot'], [-1]),
  ...rule('refused', GOES_FIRST, [
    ...['nvext', 'kv_transfer_params', 'bootstrap_host', 'bootstrap_port', 'bootstrap_room'],
    'data_parallel_rank',
  ]),
  ...rule('refused', 'an entry for each input token makes the answer too long to read', [
    'prompt_logprobs',
  ]),
  ...rule('refused', 'it would change what is counted as cost', [
    ...['input_cost_per_second', 'input_cost_per_token', 'output_cost_per_token'],
  ]),
  ...rule('dropped', 'another name for the maximum of output tokens', [
    ...['max_output_tokens', 'max_new_tokens', 'max_tokens_to_sample', 'max_gen_len', 'max_length'],
    ...['num_predict', 'n_predict', 'auto_max_new_tokens'],
    ...['maxTokens', 'maxOutputTokens', 'maxCompletionTokens'],
  ]),
  ...rule('dropped', 'wrong guesses are billed beyond the maximum', ['prediction']),
  ...rule('dropped', 'the vendor would store the answer where Tollgate cannot reach it', ['store']),
];

/** Only for native bodies: in chat bodies this field is the maximum itself. */
export const NATIVE_RULES: readonly FieldRule[] = rule(
  'dropped',
  'another name for the maximum of output tokens',
  ['max_completion_tokens'],
);

/** Only for bodies of the Responses format. Its own fields have none of the rules above. */
export const RESPONSES_RULES: readonly FieldRule[] = [
  ...rule('refused', 'it names a text stored at a vendor', ['prompt']),
  ...rule('dropped', 'another name for the maximum of output tokens', [
    ...['max_tokens', 'max_completion_tokens'],
  ]),
  ...rule('dropped', 'another model is called, at another price', ['moderation']),
  ...rule('dropped', 'a summary is another run of the model', ['context_management']),
];

/**
 * What happens to a tool or an edit, by the kind in its `type`. The kind may be followed by `_`
 * and a date or a variant.
 */
export interface KindRule {
  readonly kind: string;
  /** `priced`: passed to models that have a price for it, and refused for all others. */
  readonly becomes: 'passed' | 'priced' | 'refused';
  readonly why: string;
}

/** For native bodies. Chat bodies have only functions. */
export const TOOL_RULES: readonly KindRule[] = [
  ...['custom', 'bash', 'browser_toolset', 'computer', 'memory', 'text_editor'].map(
    (kind): KindRule => ({ kind, becomes: 'passed', why: 'the client runs it' }),
  ),
  { kind: 'web_search', becomes: 'priced', why: 'each search is billed' },
  ...['web_fetch', 'web_extract'].map(
    (kind): KindRule => ({
      kind,
      becomes: 'refused',
      why: 'fetched pages are read as input, and billed',
    }),
  ),
  ...['code_execution', 'code_interpreter'].map(
    (kind): KindRule => ({ kind, becomes: 'refused', why: 'a sandbox is billed by the hour' }),
  ),
  { kind: 'advisor', becomes: 'refused', why: 'another model is called, at another price' },
  {
    kind: 'tool_search_tool',
    becomes: 'refused',
    why: 'the vendor runs the model again for each search',
  },
  {
    kind: 'mcp_toolset',
    becomes: 'refused',
    why: 'the vendor runs the model again after each tool result',
  },
];

/** For the edits of `context_management`. All other edits only take something away. */
export const EDIT_RULES: readonly KindRule[] = [
  { kind: 'compact', becomes: 'refused', why: 'a summary is another run of the model' },
];
