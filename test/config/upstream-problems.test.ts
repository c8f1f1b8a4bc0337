import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { problemsOf } from './problems-of.ts';

const upstreamWith = (settings: string, kind = 'native', url = 'https://h') =>
  `upstreams: [{name: a, kind: ${kind}, url: "${url}", ${settings}}]`;

describe('the headers of an upstream', () => {
  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'content-type',
    'anthropic-version',
  ])('may not have %s, which the gateway sets itself', (name) => {
    expect(problemsOf(upstreamWith(`headers: {${name}: x}`))).toEqual([
      `t.yaml:1: upstreams[0].headers.${name}: is set by the gateway itself`,
    ]);
  });

  it.each(['authorization', 'X-Api-Key'])('may have %s only without api_key', (name) => {
    expect(problemsOf(upstreamWith(`headers: {${name}: x}`))).toEqual([]);
    expect(problemsOf(upstreamWith(`api_key: k, headers: {${name}: x}`))).toEqual([
      `t.yaml:1: upstreams[0].headers.${name}: is already set by api_key: use one of them`,
    ]);
  });

  it('may have what only the other kind sets', () => {
    expect(problemsOf(upstreamWith('headers: {anthropic-version: x}', 'chat'))).toEqual([]);
  });

  it.each([
    ['{"a b": x}', 'headers.a…: is not the name of a header'],
    ['{"a:": x}', 'headers.a…: is not the name of a header'],
    ['{x-a: v, X-A: v}', 'headers.X-A: is set already: the case of header names does not count'],
    [
      '{x-a: "line\\nbreak"}',
      'headers.x-a: must be text of 1 to 4096 printable ASCII characters, without spaces at its ends',
    ],
    [
      '{x-a: "end "}',
      'headers.x-a: must be text of 1 to 4096 printable ASCII characters, without spaces at its ends',
    ],
  ])('are refused as %s', (headers, problem) => {
    expect(problemsOf(upstreamWith(`headers: ${headers}`))).toEqual([
      `t.yaml:1: upstreams[0].${problem}`,
    ]);
  });

  it('are at most 32', () => {
    const headers = (count: number) =>
      Array.from({ length: count }, (_, index) => `x-${index}: v`).join(', ');
    expect(problemsOf(upstreamWith(`headers: {${headers(32)}}`))).toEqual([]);
    expect(problemsOf(upstreamWith(`headers: {${headers(33)}}`))).toEqual([
      't.yaml:1: upstreams[0].headers: must have at most 32 headers',
    ]);
  });
});

describe('the probe of an upstream', () => {
  const parse = (settings: string) =>
    parseConfig({ path: undefined, text: upstreamWith(settings), env: {} }).upstreams[0]?.probe;

  it('is none by default, and has defaults of its own', () => {
    expect(parse('api_key: k')).toBeUndefined();
    expect(parse('probe: {}')).toEqual({ path: '/v1/models', intervalMs: 5_000, timeoutMs: 2_000 });
  });

  it.each([
    ['http://h/', '/v1/models'],
    ['http://h/v1/', '/v1/models'],
    ['http://h/v1beta/openai', '/v1beta/openai/models'],
    ['http://h/openai/deployments/x?api-version=1', '/openai/deployments/x/models?api-version=1'],
  ])('asks behind the base path of %s', (url, path) => {
    const text = upstreamWith('probe: {}', 'chat', url);
    const { upstreams } = parseConfig({ path: undefined, text, env: {} });
    expect(upstreams[0]?.probe?.path).toBe(path);
  });

  it.each([
    [
      '{path: models}',
      'path: must be a path that begins with /, at most 2048 visible ASCII characters',
    ],
    [
      '{path: "/v1/models?api-version=1&key=k1"}',
      'path: must not contain credentials: put them in api_key or headers',
    ],
    ['{interval: 99ms}', 'interval: must be a duration from 100ms to 1d'],
    ['{timeout: 0s}', 'timeout: must be a duration from 1ms to 1d'],
  ])('is refused as %s', (probe, problem) => {
    expect(problemsOf(upstreamWith(`probe: ${probe}`))).toEqual([
      `t.yaml:1: upstreams[0].probe.${problem}`,
    ]);
  });
});

describe('what belongs to a network', () => {
  it('is refused on a simulated upstream', () => {
    expect(
      problemsOf(upstreamWith('headers: {}, tls: {}, probe: {}', 'simulated')).map(
        (problem) => problem.split(': ')[1],
      ),
    ).toEqual(['url', 'headers', 'tls', 'probe'].map((name) => `upstreams[0].${name}`));
  });

  it('is refused as TLS without TLS', () => {
    expect(problemsOf(upstreamWith('tls: {}', 'chat', 'http://h'))).toEqual([
      't.yaml:1: upstreams[0].tls: is for a url that begins with https://',
    ]);
  });

  it('has a host name as the name of the certificate', () => {
    expect(problemsOf(upstreamWith('tls: {server_name: "h:443"}'))).toEqual([
      't.yaml:1: upstreams[0].tls.server_name: must be the name of a host',
    ]);
  });
});

describe('an upstream', () => {
  it.each([
    ['kind: chat, url: "http://a/b#c"', 'url: must not have a fragment'],
    [
      'kind: chat, url: "http://a/b?api-version=1&Subscription-Key=2"',
      'url: must not contain credentials: put them in api_key or headers',
    ],
    [
      'kind: native, url: "http://a", output_limit_field: max_tokens',
      'output_limit_field: is for chat upstreams only',
    ],
    [
      'kind: chat, url: "http://a", output_limit_field: tokens',
      'output_limit_field: must be one of max_completion_tokens, max_tokens, or a map of model ids to them',
    ],
    [
      'kind: chat, url: "http://a", output_limit_field: {llm-opus-4.7: tokens}',
      'output_limit_field.llm-opus-4.7: must be one of max_completion_tokens, max_tokens',
    ],
    [
      'kind: chat, url: "http://a", output_limit_field: {llm-other: max_tokens}',
      'output_limit_field.llm-other: no model has this id',
    ],
    [
      'kind: chat, url: "http://a", accepts: [pdfs]',
      'accepts[0]: must be one of pdf, effort, reasoning_content',
    ],
    [
      'kind: chat, url: "http://a", accepts: {llm-opus-4.7: [effort, pdfs]}',
      'accepts.llm-opus-4.7[1]: must be one of pdf, effort, reasoning_content',
    ],
    ['kind: chat, url: "http://a", accepts: {x: []}', 'accepts.x: no model has this id'],
    ['kind: chat, url: "http://a", accepts: pdf', 'accepts: must be a list, or a map of model ids'],
    [
      'kind: chat, url: "http://a", accepts: {llm-opus-4.7: pdf}',
      'accepts.llm-opus-4.7: must be a list of 0 to 8 of pdf, effort',
    ],
    [
      'kind: chat, url: "http://a", sampling: none',
      'sampling: must be one of pass, drop, or a map',
    ],
    ['kind: chat, url: "http://a", sampling: {x: drop}', 'sampling.x: no model has this id'],
    ['kind: simulated, accepts: [pdf]', 'accepts: a simulated upstream has none'],
    ['kind: simulated, sampling: drop', 'sampling: a simulated upstream has none'],
  ])('of %s is refused', (settings, problem) => {
    const problems = problemsOf(`upstreams: [{name: a, ${settings}}]`).join('\n');
    expect(problems).toContain(`upstreams[0].${problem}`);
  });
});

describe('what an upstream accepts', () => {
  const parse = (settings: string) =>
    parseConfig({ path: undefined, text: upstreamWith(settings), env: {} }).upstreams[0]?.accepts;

  it('is the same for all models, except for those that have a list of their own', () => {
    expect(parse('api_key: k')).toEqual({ '*': ['pdf', 'effort', 'system_messages'] });
    expect(parse('accepts: [pdf]')).toEqual({ '*': ['pdf'] });
    expect(parse('accepts: {llm-haiku-4.5: [pdf]}')).toEqual({
      ...{ 'llm-haiku-4.5': ['pdf'], '*': ['pdf', 'effort', 'system_messages'] },
    });
    expect(parse('accepts: {llm-haiku-4.5: [pdf], "*": []}')).toEqual({
      ...{ 'llm-haiku-4.5': ['pdf'], '*': [] },
    });
  });
});

describe('the cost of an upstream', () => {
  it.each([
    ['{x: {input: 1, output: 1}}', 'cost.x: no model has this id'],
    [
      '{llm-opus-4.7: {input: 1}}',
      'cost.llm-opus-4.7.output: is missing: it must be a number from 0 to 1000000',
    ],
    ['3', 'cost: must be a map of model ids to prices'],
  ])('is refused as %s', (cost, problem) => {
    expect(problemsOf(upstreamWith(`cost: ${cost}`))).toEqual([
      `t.yaml:1: upstreams[0].${problem}`,
    ]);
  });

  it('may be that of a simulated upstream too', () => {
    const cost = 'cost: {llm-opus-4.7: {input: 1, output: 1}}';
    expect(problemsOf(`upstreams: [{name: a, kind: simulated, ${cost}}]`)).toEqual([]);
  });
});
