import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';
import { describeBodies } from './describe-bodies.ts';

describeBodies({
  format: 'responses',
  words: [
    'user',
    'assistant',
    'developer',
    'message',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'reasoning',
    'additional_tools',
    'item_reference',
    'web_search_call',
    'custom',
    'namespace',
    'input_text',
    'input_image',
    'auto',
    'allowed_tools',
    'json_schema',
    'data:image/png;base64,',
    '{"a":1}',
    '{',
    '',
  ],
  decode: (body) => responsesFormat.decodeRequest(body, () => undefined),
});
