import { describe, expect, it } from 'vitest';
import { problemsOf } from './problems-of.ts';

const PROBLEM =
  /^t\.yaml:1: \S+: a variable is written \$\{NAME\}, with braces; a secret that begins with \$ has to come from one$/;
const upstream = (more: string) =>
  `upstreams: [{name: main, kind: native, url: "https://x.example", ${more}}]`;
const MODELS =
  '\nmodels: [{id: m, max_output_tokens: 9, price: {input: 1, output: 1}, routes: [{upstream: main}]}]';

describe('$NAME without braces', () => {
  it.each([
    'ops: {admin_token: $ADMIN_TOKEN}',
    'redis: {url: "redis://:$REDIS_PASSWORD@127.0.0.1:6379/0"}',
    'redis: {url: $REDIS_URL}',
    'tracing: {endpoint: "http://x:4318", headers: {authorization: "Bearer $TRACES_TOKEN"}}',
    `${upstream('api_key: $MAIN_KEY')}${MODELS}`,
    `${upstream("headers: {x-key: '$MAIN_KEY'}")}${MODELS}`,
  ])('is refused in a secret, with a hint: %s', (text) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(PROBLEM)]);
  });

  it('is told without the value, which may be a secret itself', () => {
    const [problem, ...others] = problemsOf('ops: {admin_token: $uper_secret}');
    expect([problem, others]).toEqual([expect.stringMatching(PROBLEM), []]);
    expect(problem).not.toContain('uper');
  });

  it.each([
    'ops: {admin_token: pa$word}',
    'ops: {admin_token: "$1$5.x"}',
    'redis: {url: "redis://:pa$word@127.0.0.1:6379/0"}',
    'data_dir: /tmp/$x',
  ])('is a text where nobody can mean a variable: %s', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it('may come out of a variable', () => {
    const text = `ops: {admin_token: \${ADMIN_TOKEN}}`;
    expect(problemsOf(text, { ADMIN_TOKEN: '$uper_secret' })).toEqual([]);
  });
});
