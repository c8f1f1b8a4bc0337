import { beforeAll, describe, expect, it } from 'vitest';
import { installLocked } from '../../bench/support/install-locked.ts';
import { admin } from '../support/clients/admin.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { AGENTS_DIR, type Ended, readPageSettings, runAgent } from './run-agent.ts';
import { type RecordedRequest, startRecorder } from './start-recorder.ts';

const INSTALL_TIME_MAX_MS = 300_000;

const cleanUp = useCleanUp();
/** One gateway per kind of upstream, each in front of the simulated models. */
const gateways: Record<string, Gateway> = {};
/** The requests that each gateway got. */
const requests: Record<string, readonly RecordedRequest[]> = {};

beforeAll(async () => {
  installLocked(AGENTS_DIR);
  const settings = readPageSettings();
  const config = `workers: 1\n${settings}${FAST_UPSTREAM}`;
  const simulated = await startGateway({ config, cleanUp });
  for (const kind of ['native', 'chat', 'responses']) {
    const recorder = await startRecorder(simulated.port, cleanUp);
    const upstream = `{name: main, kind: ${kind}, url: "${recorder.url}", api_key: ${simulated.key()}}`;
    gateways[kind] = await startGateway({
      config: `workers: 1\nrequest_log: all\n${settings}upstreams: [${upstream}]\n`,
      cleanUp,
    });
    requests[kind] = recorder.requests;
  }
}, INSTALL_TIME_MAX_MS);

interface Session {
  readonly title: string;
  readonly tool: readonly [name: string, argument: string];
  readonly model: string;
  readonly route: 'native' | 'chat' | 'responses';
  readonly number?: number;
  readonly options?: string;
  readonly program?: string;
  readonly isAlone?: boolean;
  readonly key?: string;
  readonly changeFile?: (text: string) => string;
}

const CLAUDE = { title: 'Claude Code', tool: ['Read', 'file_path'], route: 'native' } as const;
const PI = { title: 'pi', tool: ['read', 'path'] } as const;
const OPENCODE = { title: 'opencode', tool: ['read', 'filePath'] } as const;
const CONTINUE = {
  title: 'Continue',
  tool: ['Read', 'filepath'],
  model: 'llm-sonnet-4.6',
} as const;
const CODEX = {
  title: 'Codex',
  tool: ['exec_command', 'cmd'],
  program: 'cat ',
  isAlone: true,
  // It runs in a network of its own, where its own walls cannot be built on every machine.
  options: '--sandbox danger-full-access',
} as const;
const OPUS = 'llm-opus-4.7';
const SONNET = 'llm-sonnet-4.6';
const HAIKU = 'llm-haiku-4.5';

const SESSIONS: Readonly<Record<string, Session>> = {
  'Claude Code with its default model': { ...CLAUDE, model: OPUS },
  'Claude Code with its model sonnet': { ...CLAUDE, model: SONNET, options: '--model sonnet' },
  'Claude Code with its model haiku': { ...CLAUDE, model: HAIKU, options: '--model haiku' },
  pi: { ...PI, model: SONNET, route: 'native' },
  'pi in the chat format': { ...PI, model: HAIKU, route: 'chat', number: 1 },
  opencode: { ...OPENCODE, model: SONNET, route: 'native' },
  'opencode in the chat format': {
    ...OPENCODE,
    model: HAIKU,
    route: 'chat',
    number: 1,
  },
  Continue: { ...CONTINUE, route: 'native' },
  'Continue in the chat format': {
    ...CONTINUE,
    route: 'chat',
    changeFile: (text) => text.replace('provider: anthropic', 'provider: openai'),
  },
  Codex: { ...CODEX, model: SONNET, route: 'responses' },
};

interface AskedFor extends Ended {
  /** The lines of the gateway's log, and the requests that its upstream got. */
  readonly lines: object[];
  readonly upstream: readonly RecordedRequest[];
}

async function run(kind: string, session: Session): Promise<AskedFor> {
  const gateway = gateways[kind];
  const recorded = requests[kind];
  if (gateway === undefined || recorded === undefined) throw new Error(`nothing asks ${kind}`);
  const requestLines = () => gateway.logLines().filter(({ msg }) => msg === 'request');
  const before = requestLines().length;
  const recordedBefore = recorded.length;
  const ended = await runAgent({ gateway, ...session });
  const isAsked = () => requestLines().length >= before + 2;
  await waitUntil(isAsked, () => `the agent asked: ${ended.output}`);
  return {
    ...ended,
    lines: requestLines().slice(before),
    upstream: recorded.slice(recordedBefore),
  };
}

const isLike = (line: object, fields: object) =>
  Object.entries(fields).every(([name, value]) => Reflect.get(line, name) === value);

async function readFile(kind: string, session: Session): Promise<AskedFor> {
  const asked = await run(kind, session);
  const { code, output, lines, upstream } = asked;
  expect(output).toContain(`The tool ${session.tool[0]} said`);
  expect(code, output).toBe(0);
  // One request before the tool call, and one with the tool's result. Titles may come from a
  // separate model.
  const { model, route } = session;
  const ofSession = lines.filter((line) => isLike(line, { model, route, isStream: true }));
  expect(ofSession.length).toBeGreaterThanOrEqual(2);
  for (const line of lines) expect(line).toMatchObject({ status: 200 });
  expect(upstream.some(({ body }) => body.includes('The word is marmalade.'))).toBe(true);
  return asked;
}

const name = '%s reads a file with the settings of the page';

describe('with an upstream of the native format', () => {
  it.each(Object.entries(SESSIONS))(name, async (_name, session) => {
    await readFile('native', session);
  });

  it('Claude Code finds all that it asks for at the upstream', async () => {
    const { upstream } = await readFile('native', { ...CLAUDE, model: OPUS });
    const [first] = upstream;
    const betas = String(first?.headers['anthropic-beta']).split(',');
    for (const beta of ['claude-code', 'interleaved-thinking', 'context-management', 'effort']) {
      expect(betas).toContainEqual(expect.stringMatching(`^${beta}-\\d{8}|^${beta}-\\d{4}-`));
    }
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      model: OPUS,
      max_tokens: 32_000,
      thinking: { type: 'adaptive' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: expect.any(String) },
      metadata: { user_id: expect.any(String) },
      system: expect.arrayContaining([
        expect.objectContaining({ cache_control: { type: 'ephemeral' } }),
      ]),
    });
  });

  it('pi finds all that it asks for at the upstream', async () => {
    const { upstream } = await readFile('native', { ...PI, model: SONNET, route: 'native' });
    expect(JSON.parse(upstream[0]?.body ?? '')).toMatchObject({
      thinking: { type: 'enabled', display: 'summarized' },
      tools: expect.arrayContaining([expect.objectContaining({ eager_input_streaming: true })]),
    });
  });
});

describe('with an upstream of the chat format', () => {
  const sessions = ['Claude Code with its default model', 'pi', 'opencode', 'Continue', 'Codex'];
  const entries = Object.entries(SESSIONS).filter(([title]) => sessions.includes(title));

  it.each(entries)(name, async (_name, session) => {
    const { upstream } = await readFile('chat', session);
    for (const { path } of upstream) expect(path).toBe('/v1/chat/completions');
  });
});

describe('with an upstream of the Responses format', () => {
  it('Codex reads a file with the settings of the page', async () => {
    const { upstream } = await readFile('responses', {
      ...CODEX,
      model: SONNET,
      route: 'responses',
    });
    for (const { path } of upstream) expect(path).toBe('/v1/responses');
  });
});

describe('an account without credits', () => {
  it('stops Codex with its first request', async () => {
    const gateway = gateways['native'];
    if (gateway === undefined) throw new Error('there is no gateway');
    const operator = admin(gateway);
    const { key } = await operator.createKey(await operator.createAccount({ credits: 0 }));
    const linesBefore = gateway.logLines().length;
    const { code, output } = await runAgent({ gateway, ...CODEX, key });
    expect([code, output]).toEqual([1, expect.stringContaining('Quota exceeded')]);
    const listRequests = () =>
      gateway
        .logLines()
        .slice(linesBefore)
        .filter(({ msg }) => msg === 'request');
    await waitUntil(() => listRequests().length > 0, 'the log has the request');
    expect(listRequests()).toMatchObject([{ status: 429 }]);
  });
});
