import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import { describeFormat } from './format.suite.ts';
import { readChatStream } from './read-chat-stream.ts';

describeFormat(chatFormat, {
  fixtures: 'chat',
  readStream(events) {
    const { text, tools, ending } = readChatStream(events);
    return { text, tools, ending };
  },
});
