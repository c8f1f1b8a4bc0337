import { describe, expect, it } from 'vitest';
import {
  findEndUser,
  formatEndUserSource,
  parseEndUserSource,
} from '../../../src/protocol/find-end-user.ts';

const sourcesOf = (...texts: string[]) =>
  texts.map((text) => {
    const source = parseEndUserSource(text);
    if (source === undefined) throw new Error(`${text} is no source`);
    return source;
  });
const SOURCES = sourcesOf('header:x-user', 'metadata.user_id', 'user');
const noHeader = () => undefined;

describe('the end user of a request', () => {
  it('is the first that is named, in the order of the settings', () => {
    const body = { metadata: { user_id: 'second' }, user: 'third' };
    const header = (name: string) => (name === 'x-user' ? 'first' : undefined);
    expect(findEndUser(SOURCES, header, body)).toBe('first');
    expect(findEndUser(SOURCES, noHeader, body)).toBe('second');
    expect(findEndUser(SOURCES, noHeader, { user: 'third' })).toBe('third');
  });

  it.each([
    [{ user: 7 }],
    [{ user: '' }],
    [{ user: ' \n ' }],
    [{ user: null }],
    [{ metadata: null }],
    [{ metadata: 'user_id' }],
    [Object.create({ user: 'inherited' })],
    ['user'],
    [undefined],
  ])('is nobody in %j', (body) => {
    expect(findEndUser(SOURCES, noHeader, body)).toBe('');
  });

  it('is one, however the same name is written', () => {
    const named = (user: string) => findEndUser(SOURCES, noHeader, { user });
    expect(named(' Zo\u00eb ')).toBe(named('Zoe\u0308'));
    expect(named('x'.repeat(10_000))).toHaveLength(512);
  });
});

describe('the end user of a coding agent', () => {
  const named = (user_id: string) => findEndUser(SOURCES, noHeader, { metadata: { user_id } });
  const agent = (session: string, device = 'd') =>
    JSON.stringify({ device_id: device, account_uuid: '', session_id: session });
  const older = (session: string, user = 'a') =>
    `user_${user}_account_00000000-0000-0000-0000-000000000001_session_${session}`;

  it('is the same in every session', () => {
    expect(named(agent('one'))).toBe(named(agent('two')));
    expect(named(agent('one'))).not.toBe(named(agent('one', 'other')));
    const [one, two] = [
      '00000000-0000-0000-0000-00000000000a',
      '00000000-0000-0000-0000-00000000000b',
    ];
    expect(named(older(one))).toBe(named(older(two)));
    expect(named(older(one))).not.toBe(named(older(one, 'b')));
  });

  it.each([
    '{"session_id":',
    '{"session_id":"s"}',
    '{"device_id":"d"}',
    '[1]',
    '{}',
    'null',
    '_session_',
  ])('is the text %s where that says nothing beside a session', (text) => {
    expect(named(text)).toBe(text);
  });
});

it.each(['header:', 'header:X-User', 'header:a b', 'messages', 'metadata', '__proto__', ''])(
  '%j is no place of an end user',
  (text) => {
    expect(parseEndUserSource(text)).toBeUndefined();
  },
);

it('a place is written as it is read', () => {
  for (const text of ['header:x-user', 'metadata.user_id', 'safety_identifier', 'user']) {
    expect(sourcesOf(text).map(formatEndUserSource)).toEqual([text]);
  }
});
