import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';
import { describeFormat } from './format.suite.ts';
import { readResponsesStream } from './read-responses-stream.ts';

describeFormat(responsesFormat, {
  fixtures: 'responses',
  readStream(events) {
    const { text, tools, ending } = readResponsesStream(events);
    return { text, tools, ending };
  },
});
