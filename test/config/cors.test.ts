import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';

const parse = (origin: string) =>
  parseConfig({
    path: 't.yaml',
    text: `cors: {origins: [${JSON.stringify(origin)}]}`,
    env: {},
  }).cors.origins;

it.each([
  '*',
  'https://app.example.com',
  'http://localhost:5173',
  'https://[::1]:8443',
  'chrome-extension://abcdefgh',
])('takes an origin as browsers send it: %s', (origin) => {
  expect(parse(origin)).toEqual([origin]);
});

it.each([
  'https://app.example.com/',
  'https://App.example.com',
  'app.example.com',
  'https://app.example.com ',
  'https://me@example.com',
  'https://*.example.com',
  'null',
  '',
])('refuses what no browser sends as an origin: "%s"', (origin) => {
  expect(() => parse(origin)).toThrow(
    't.yaml:1: cors.origins[0]: must be an origin such as https://app.example.com, in lower case and without a path, or *',
  );
});

it.each(['https://a.example:443', 'http://a.example:80'])(
  'refuses the port that browsers leave out: %s',
  (origin) => {
    expect(() => parse(origin)).toThrow(
      't.yaml:1: cors.origins[0]: must not name the usual port, which browsers leave out',
    );
  },
);
