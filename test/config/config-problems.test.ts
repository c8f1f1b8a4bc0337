import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problemsOf } from './problems-of.ts';

describe('the problems of the settings', () => {
  it('are listed all at once, by line and path, those of the environment last', () => {
    const text = `lisen: 1
workers: \${N}
plans: {pro: x}
workers: 3
models:
  - id: a
    aliases: [b, a]
    price: {input: 1}
    routes: [{upstream: main, weight: 0}]
upstreams:
  - {name: m, kind: native}
limits: {body_bytes: 2GiB}
`;
    expect(problemsOf(text, { TOLLGATE_LOG_LEVEL: 'loud', TOLLGATE_UWS_SHA256: 'ab' })).toEqual([
      't.yaml:1: lisen: unknown key; did you mean listen?',
      't.yaml:2: workers: the environment variable N is not set',
      't.yaml:3: plans.pro: must be a whole number from 1 to 1000000',
      't.yaml:4: workers: is already set on line 2',
      't.yaml:6: models[0].max_output_tokens: is missing: it must be a whole number from 1 to 100000000',
      't.yaml:7: models[0].aliases[1]: "a" is already used as an id or alias',
      't.yaml:8: models[0].price.output: is missing: it must be a number from 0 to 1000000',
      't.yaml:9: models[0].routes[0].weight: must be a whole number from 1 to 1000',
      't.yaml:9: models[0].routes[0].upstream: no upstream has the name "main"',
      't.yaml:11: upstreams[0].url: is missing: a native upstream needs one',
      't.yaml:12: limits.body_bytes: must be at most 128MiB',
      'TOLLGATE_LOG_LEVEL: must be one of debug, info, warn, error',
      'TOLLGATE_UWS_SHA256: must be 64 hexadecimal digits',
    ]);
  });

  it('name the keys there are when none is near', () => {
    expect(problemsOf('redis: {host: a}')).toEqual([
      't.yaml:1: redis.host: unknown key; the keys here are url',
    ]);
    expect(problemsOf('__proto__: 1')[0]).toMatch(/^t\.yaml:1: __proto__: unknown key/);
  });

  it.each([
    ['- a', 't.yaml:1: must be a map of settings'],
    ['\n\nplans:\n', 't.yaml:3: plans: has no value: it must be a map of settings'],
    ['workers: 0', 't.yaml:1: workers: must be a whole number from 1 to 256'],
    ['workers: 1.5', 't.yaml:1: workers: must be a whole number from 1 to 256'],
    ['workers: "2x"', 't.yaml:1: workers: must be a whole number from 1 to 256'],
    ['workers: .nan', 't.yaml:1: workers: must be a whole number from 1 to 256'],
    ['listen: 8080', 't.yaml:1: listen: must be host:port, [ipv6]:port or unix:/path'],
    ['limits: {body_time: 0s}', 't.yaml:1: limits.body_time: must be a duration from 1ms to 1d'],
    ['limits: {body_time: 25h}', 't.yaml:1: limits.body_time: must be a duration from 1ms to 1d'],
    [
      'limits: {rate_window: 999ms}',
      't.yaml:1: limits.rate_window: must be a duration from 1s to 1h',
    ],
    ['limits: {rate_window: 2h}', 't.yaml:1: limits.rate_window: must be a duration from 1s to 1h'],
    [
      'estimate: {bytes_per_token: 0.9}',
      't.yaml:1: estimate.bytes_per_token: must be a number from 1 to 8',
    ],
    [
      'guards: {trusted_proxies: 17}',
      't.yaml:1: guards.trusted_proxies: must be a whole number from 0 to 16',
    ],
    [
      'guards: {insurance_per_minute: 0}',
      't.yaml:1: guards.insurance_per_minute: must be a whole number from 1 to 1000000',
    ],
    ['limits: {body_bytes: 0}', 't.yaml:1: limits.body_bytes: must be at least 1 byte'],
    ['models: []', 't.yaml:1: models: must be a list of 1 to 256 models'],
    ['upstreams: []', 't.yaml:1: upstreams: must be a list of 1 to 64 upstreams'],
    ['data_dir: ""', 't.yaml:1: data_dir: must be a path of at most 4096 characters'],
    [
      `workers: \${A-B}`,
      `t.yaml:1: workers: a variable is written \${NAME}: letters, digits and _ only`,
    ],
    [
      'listen: unix:/x\nworkers: 2',
      't.yaml:2: workers: a unix socket can be served by one worker only',
    ],
    [
      'listen: 0.0.0.0:80\nops: {listen: 127.0.0.1:80}',
      't.yaml:2: ops.listen: is the same place as listen',
    ],
  ])('say what is wrong with %j', (text, problem) => {
    expect(problemsOf(text)).toContain(problem);
  });

  it.each([
    [
      '{name: main, kind: simulated, url: "http://a"}',
      'upstreams[0].url: a simulated upstream has none',
    ],
    ['{name: main, kind: chat}', 'upstreams[0].url: is missing: a chat upstream needs one'],
    ['{name: main, kind: other}', 'upstreams[0].kind: must be one of native, chat, responses'],
    [
      '{name: main, kind: chat, url: "ftp://a"}',
      'upstreams[0].url: must be a URL that begins with',
    ],
    [
      '{name: main, kind: chat, url: "http://a:b@c"}',
      'upstreams[0].url: must not contain credentials',
    ],
    ['{name: main, kind: chat, url: "http://[x"}', 'upstreams[0].url: is not a valid URL'],
    ['{name: main, kind: simulated, model_names: {x: y}}', 'upstreams[0].model_names.x: no model'],
    [
      '{name: main, kind: chat, url: "http://a", simulated: {seed: 2}}',
      'upstreams[0].simulated: is for simulated upstreams only: this one is chat',
    ],
    [
      '{name: main, kind: simulated, simulated: {error_rate: 1.5}}',
      'upstreams[0].simulated.error_rate: must be a number from 0 to 1',
    ],
    [
      '{name: main, kind: simulated, simulated: {tokens_per_secnd: 5}}',
      'upstreams[0].simulated.tokens_per_secnd: unknown key; did you mean tokens_per_second?',
    ],
    [
      '{name: main, kind: simulated, timeouts: {idle: 5}}',
      'upstreams[0].timeouts.idle: must be a duration',
    ],
    [
      '{name: a, kind: simulated}, {name: a, kind: simulated}',
      'upstreams[1].name: "a" is already the name',
    ],
  ])('say what is wrong with the upstreams [%s]', (upstreams, problem) => {
    expect(problemsOf(`upstreams: [${upstreams}]`).join('\n')).toContain(`t.yaml:1: ${problem}`);
  });

  it.each([
    [
      'max_output_tokens: 200001',
      'max_output_tokens: must not be more than context_length (200000)',
    ],
    [
      'beta_context_length: 1',
      'beta_context_length: must not be less than context_length (200000)',
    ],
    ['context_length: 99', 'max_output_tokens: must not be more than context_length (99)'],
    ['routes: []', 'routes: must be a list of 1 to 64 routes'],
    [
      'routes: [{upstream: simulated}, {upstream: simulated}]',
      'routes[1].upstream: "simulated" is already a route',
    ],
    ['aliases: [m]', 'aliases[0]: "m" is already used as an id or alias'],
    ['id: other/', 'id: must be a name of at most 128 letters'],
    ['price: {input: -1, output: 1}', 'price.input: must be a number from 0 to 1000000'],
    [
      'price: {input: 1, output: 2, cache_read: 1.5}',
      'price.cache_read: must not be more than input (1)',
    ],
  ])('say what is wrong with a model of %s', (line, problem) => {
    const key = line.split(':')[0] ?? '';
    const lines = ['id: m', 'max_output_tokens: 100', 'price: {input: 1, output: 2}'];
    const model = [...lines.filter((other) => !other.startsWith(`${key}:`)), line];
    expect(problemsOf(`models:\n  - ${model.join('\n    ')}\n`).join('\n')).toContain(
      `models[0].${problem}`,
    );
  });

  it('name the variable when it is the one that does not fit the file', () => {
    expect(problemsOf('listen: unix:/x', { TOLLGATE_WORKERS: '2' })).toEqual([
      'TOLLGATE_WORKERS: a unix socket can be served by one worker only',
    ]);
    expect(problemsOf('redis: redis://h', { TOLLGATE_REDIS_URL: 'redis://h' })).toEqual([
      't.yaml:1: redis: must be a map of settings',
    ]);
  });
});

describe('a file that is not YAML', () => {
  it.each([
    ['workers: 3\nplans: {pro: 1', 't.yaml:2: the indentation does not fit'],
    ['a: b: c', 't.yaml:1: a line has a second ": ": put the value in quotes'],
    ['listen: "a', 't.yaml:1: a quote, a bracket, a comma or a colon is missing'],
    ['plans:\n\tpro: 1', 't.yaml:2: a tab indents this line: use spaces'],
    [
      'workers: 3\n---\nworkers: 2',
      't.yaml:2: a second document begins here: the file must hold one',
    ],
    ['? [a]\n: b', 't.yaml:1: a key must be plain text'],
  ])('is told where: %j', (text, problem) => {
    expect(problemsOf(text)).toContain(problem);
  });

  it('still has its earlier problems told, but none that follow from the break', () => {
    const text =
      'lisen: 1\nmodels:\n  - id: a\n    routes: [{upstream: main}]\n    price: {input: 1';
    expect(problemsOf(text)).toEqual([
      't.yaml:1: lisen: unknown key; did you mean listen?',
      't.yaml:5: the indentation does not fit',
    ]);
  });

  it('is refused for anchors, aliases and keys without a value, which are most likely slips', () => {
    expect(problemsOf('data_dir: &x y')[0]).toContain('data_dir: anchors and aliases are not');
    expect(problemsOf('data_dir: *x')[0]).toContain('anchors and aliases are not supported');
    expect(problemsOf('plans: {pro}')).toEqual([
      't.yaml:1: plans: a key needs ": " and a value; a value that holds a comma or a colon needs quotes',
    ]);
  });

  it('never makes anything but a ConfigError', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '\n',
        '  ',
        '- ',
        ': ',
        '{',
        '}',
        '[',
        ']',
        ',',
        '"',
        "'",
        '#',
        `\${`,
        '&',
        '*',
        '!',
        '|',
        '?',
      ),
      fc.constantFrom('models', 'redis', 'url', 'workers', 'ops', 'id', '1', 'null', '<<', '---'),
      fc.string({ maxLength: 4, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const problem of problemsOf(pieces.join(''))) expect(problem).not.toBe('');
      }),
      { numRuns: 500 },
    );
  });
});

describe('a secret', () => {
  const secret = fc
    .tuple(
      fc.stringMatching(/^zq[a-z]{10}$/),
      fc.constantFrom('', ' ', ': ', ' #', ',', '"', "'", '@', '/', '%', '}', '{', '|', '\\', '\n'),
      fc.stringMatching(/^zq[a-z]{10}$/),
    )
    .map(([head, separator, tail]) => ({ pieces: [head, tail], text: head + separator + tail }));

  const expectSilence = (problems: readonly string[], pieces: readonly string[]) => {
    for (const piece of pieces) expect(problems.join('\n')).not.toContain(piece);
  };

  it('in a variable is in no problem, wherever the variable is used', () => {
    const text = `listen: \${S}
workers: \${S}
ops: {admin_token: " \${S}"}
redis: {url: "redis://:\${S}@h:x"}
drain: {timeout: \${S}}
limits: {body_bytes: \${S}, over_ceiling: \${S}}
upstreams: [{name: main, kind: \${S}, api_key: "\${S} ", url: "\${S}"}]
`;
    const env = { TOLLGATE_REDIS_URL: '', TOLLGATE_LOG_LEVEL: '' };
    fc.assert(
      fc.property(secret, ({ pieces, text: value }) => {
        const problems = problemsOf(text, { ...env, S: value, TOLLGATE_LOG_LEVEL: value });
        expect(problems.length).toBeGreaterThan(8);
        expectSilence(problems, pieces);
      }),
    );
  });

  it('written into the file without care is in no problem either', () => {
    const anyFrame = fc.constantFrom(
      (s: string) => `ops: {admin_token: ${s}}`,
      (s: string) => `ops: {admin_token:${s}}`,
      (s: string) => `ops:\n  listen: 1\n  admin_token: ${s}\n`,
      (s: string) => `ops:\n  listen: 1\n  admin_token:${s}\n`,
      (s: string) => `ops:\n  admin_token: "${s}"\n`,
      (s: string) => `ops:\n  admin_token: &${s}\n`,
      (s: string) => `ops:\n  admin_token: *${s}\n`,
      (s: string) => `ops:\n  admin_token: !${s}\n`,
      (s: string) => `ops:\n  admin_token: | ${s}\n`,
      (s: string) => `ops:\n  admin_token: [${s}]\n`,
      (s: string) => `redis:\n  url: redis://:${s}@h:x\n`,
      (s: string) => `redis: {url: redis://:${s}@h:x}\n`,
    );
    fc.assert(
      fc.property(secret, anyFrame, ({ pieces, text }, frame) => {
        expectSilence(problemsOf(frame(text)), pieces);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of the wrong type is not repeated', () => {
    expect(problemsOf('ops: {admin_token: 123456789}')).toEqual([
      't.yaml:1: ops.admin_token: must be text of 1 to 4096 visible ASCII characters, without spaces',
    ]);
  });
});
