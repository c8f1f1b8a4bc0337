import { describe, expect, it } from 'vitest';
import { runLoad } from '../../../src/load/run-load.ts';
import { FORMAT_NAMES, FORMAT_PATHS } from '../../../src/protocol/format-names.ts';
import { runProgram } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

async function bench(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const load = ['--url', gateway().url, '--rate', '100', '--seconds', '0.5', '--json'];
  const { code, out, err } = await runProgram(env, 'bench', ...load, ...args);
  if (out === '') throw new Error(err);
  return { code, ...JSON.parse(out) };
}

async function createKey(controls: object = {}): Promise<{ id: string; key: string }> {
  const operator = admin(gateway());
  return operator.createKey(await operator.createAccount(), controls);
}

describe('tollgate bench against a gateway', () => {
  it('is answered and charged for each request, in each format, whole and streamed', async () => {
    const kinds = FORMAT_NAMES.flatMap((format) => [
      ['--format', format],
      ['--format', format, '--stream'],
    ]);
    for (const more of kinds) {
      const { id, key } = await createKey();
      const shown = await bench({ TOLLGATE_KEY: key }, '--body-bytes', '1000', ...more);
      expect(shown, more.join(' ')).toMatchObject({
        ...{ code: 0, sent: 50, completed: 50, statuses: { 200: 50 }, failures: {} },
        first_event_ms: more.includes('--stream') ? expect.any(Object) : null,
      });
      const { spent_this_month: spent, held } = await admin(gateway()).key(id);
      expect(spent).toBeGreaterThan(0);
      expect([shown.charged, held]).toEqual([spent, 0]);
    }
  });

  it('counts refusals by their status', async () => {
    const { key } = await createKey({ rpm: 7 });
    const shown = await bench({}, '--key', key);
    expect(shown).toMatchObject({ code: 0, statuses: { 200: 7, 429: 43 }, failures: {} });
  });

  it('fails when nothing is answered with 200', async () => {
    const { key } = await createKey({ models: ['opus'] });
    const shown = await bench({ TOLLGATE_KEY: key });
    expect(shown).toMatchObject({ code: 1, statuses: { 403: 50 }, charged: 0 });
  });

  it('takes the demo key of the data folder when it is given none', async () => {
    const shown = await bench({ TOLLGATE_DATA_DIR: gateway().dataDir });
    expect(shown).toMatchObject({ code: 0, statuses: { 200: 50 } });
  });

  it('sends nothing with a key that the gateway does not take', async () => {
    const { code, out, err } = await runProgram({}, 'bench', '--url', gateway().url, '--key', 'x');
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`${gateway().url} refuses the key`);
  });

  it('does not take the operators’ listener for a gateway', async () => {
    const { opsUrl, key } = gateway();
    const { code, err } = await runProgram({ TOLLGATE_KEY: key() }, 'bench', '--url', opsUrl);
    expect(code).toBe(1);
    expect(err).toContain('is it the address of listen?');
  });

  it('counts streams that begin and then fail', async () => {
    const { key } = await createKey();
    const text = '[[error 500 after 3]]';
    for (const format of FORMAT_NAMES) {
      const path = FORMAT_PATHS[format];
      const body =
        format === 'responses'
          ? { model: HAIKU, input: text, stream: true }
          : messageOf(text, { stream: true });
      const result = await runLoad({
        ...{ url: new URL(`${gateway().url}${path}`), method: 'POST', isStream: true },
        headers: {
          'x-api-key': key,
          'llm-version': '2023-06-01',
          'content-type': 'application/json',
        },
        body: Buffer.from(JSON.stringify(body)),
        ...{ ratePerSecond: 20, seconds: 0.5, connectionsMax: 10 },
      });
      expect(result, path).toMatchObject({ completed: 0, failures: { stream_failed: 10 } });
      expect(result.firstEventMs?.max).toBeGreaterThan(0);
    }
  });
});
