import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../src/protocol/chat/requests/encode-request.ts';
import { spliceChatRequest } from '../../src/protocol/chat/requests/splice-request.ts';
import type { Format } from '../../src/protocol/format.ts';
import { abridgeJson } from '../../src/protocol/json/abridge-json.ts';
import { REQUEST_BOUNDS } from '../../src/protocol/json/json-place.ts';
import { readJsonBody } from '../../src/protocol/json/parse-json-body.ts';
import { scanJson } from '../../src/protocol/json/scan-json.ts';
import { spliceJson } from '../../src/protocol/json/splice-json.ts';
import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { encodeNativeRequest } from '../../src/protocol/native/requests/encode-request.ts';
import { spliceNativeRequest } from '../../src/protocol/native/requests/splice-request.ts';
import { encodeResponsesRequest } from '../../src/protocol/responses/requests/encode-request.ts';
import { spliceResponsesRequest } from '../../src/protocol/responses/requests/splice-request.ts';
import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';
import { MarkReader } from '../../src/protocol/sse/find-marks.ts';
import { cpuMicros, type Twin } from './twin.ts';

const TEXT_BYTES = 2_000;
const CODE = `  const name = "value \\u00e9";\n  if (name !== '') {\n    return [name, 'ok'];\n  }\n`;

function writeBody(textBytes: number, texts: number): Buffer {
  const content = CODE.repeat(Math.ceil(textBytes / CODE.length)).slice(0, textBytes);
  const turn = [
    { role: 'user', content },
    { role: 'assistant', content: `${content}.` },
  ];
  const messages = [
    ...Array(Math.floor(texts / 2))
      .fill(turn)
      .flat(),
    { role: 'user', content },
  ];
  return Buffer.from(JSON.stringify({ model: 'haiku', max_tokens: 100, messages }));
}

/** The same conversation as items. */
function writeItems(body: Buffer): Buffer {
  const { model, messages } = JSON.parse(body.toString());
  return Buffer.from(
    JSON.stringify({ model, max_output_tokens: 100, store: false, input: messages }),
  );
}

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);
const middle = readJsonBody(writeBody(TEXT_BYTES, 45));
const megabyte = writeBody(TEXT_BYTES, 450);
const megabyteText = megabyte.toString();

function callFrom(format: Format, source = middle) {
  const { request } = format.decodeRequest(source.value, header);
  return { request, outputTokensMax: 100, isStream: false, source };
}

const large = readJsonBody(megabyte);
const native = callFrom(nativeFormat);
const chat = callFrom(chatFormat);
const responses = callFrom(responsesFormat, readJsonBody(writeItems(middle.bytes)));
const isKept = (name: string) => name !== 'model';

function findMarks(): void {
  const marks = new MarkReader(megabyte);
  while (marks.next() < megabyte.length);
}

export const REQUEST_TWINS: readonly Twin[] = [
  {
    file: 'src/protocol/native/requests/splice-request.ts',
    what: 'a native request of 100 KB written for a native upstream',
    unit: 'us',
    plain: cpuMicros(() => encodeNativeRequest(native, 'vendor-name')),
    fast: cpuMicros(() => spliceNativeRequest(native, 'vendor-name')),
  },
  {
    file: 'src/protocol/chat/requests/splice-request.ts',
    what: 'a chat request of 100 KB written for a chat upstream',
    unit: 'us',
    plain: cpuMicros(() => encodeChatRequest(chat, 'vendor-name', 'max_tokens')),
    fast: cpuMicros(() => spliceChatRequest(chat, 'vendor-name', 'max_tokens')),
  },
  {
    file: 'src/protocol/responses/requests/splice-request.ts',
    what: 'a Responses request of 100 KB written for a Responses upstream',
    unit: 'us',
    plain: cpuMicros(() => encodeResponsesRequest(responses, 'vendor-name')),
    fast: cpuMicros(() => spliceResponsesRequest(responses, 'vendor-name')),
  },
  {
    file: 'src/protocol/json/splice-json.ts',
    what: 'another model in a body of 1 MB',
    unit: 'us',
    plain: cpuMicros(() => Buffer.from(JSON.stringify({ ...large.value, model: 'vendor-name' }))),
    fast: cpuMicros(() => spliceJson(large, '"model":"vendor-name"', isKept)),
  },
  {
    file: 'src/protocol/json/abridge-json.ts',
    what: 'a body of 1 MB of code in texts of 2 KB read',
    unit: 'us',
    plain: cpuMicros(() => readJsonBody(megabyte)),
    fast: cpuMicros(() => abridgeJson(megabyte, nativeFormat.abridgment)),
  },
  {
    file: 'src/protocol/sse/find-marks.ts',
    what: 'where quotes and escapes stand in the same body',
    unit: 'us',
    plain: cpuMicros(() => scanJson(megabyte, megabyteText, REQUEST_BOUNDS)),
    fast: cpuMicros(findMarks),
  },
];
