import { expect, it } from 'vitest';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';

const IMAGE = { type: 'input_image', image_url: 'https://h/a.png' };
const FILE = { type: 'input_file', file_url: 'https://h/a.pdf', filename: 'a.pdf' };
const DATA_URL = 'data:application/pdf;base64,JVBERi0xLjQK';

const decode = (part: object) =>
  responsesFormat.decodeRequest(
    { model: 'haiku', input: [{ role: 'user', content: [part] }] },
    () => undefined,
  );

it.each([
  [{ ...IMAGE, file_id: 'file_1' }, 'file_id'],
  [{ ...FILE, file_id: 'file_1' }, 'file_id'],
  [{ ...FILE, file_data: DATA_URL }, 'file_url'],
])('a part that names a second file is refused: %o', (part, param) => {
  expect(() => decode(part)).toThrow(
    expect.objectContaining({ status: 400, param: `input[0].content[0].${param}` }),
  );
});

it.each([
  { ...IMAGE, file_id: null },
  { ...FILE, file_id: null, file_data: null },
  { ...FILE, file_url: '', file_data: DATA_URL },
])('a part may say that it has no other file: %o', (part) => {
  expect(decode(part).request.messages).toMatchObject([{ role: 'user' }]);
});
