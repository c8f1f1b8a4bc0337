import { afterEach, describe, expect, it } from 'vitest';
import { NOW_MS, openScripts, requestNumber } from './open-scripts.ts';

const scripts = openScripts();
const limitMemory = (bytes: string) => scripts.send('config', 'set', 'maxmemory', bytes);

afterEach(() => limitMemory('0'));

describe('a Redis without free memory', () => {
  it('admits nobody', async () => {
    await limitMemory('1');
    await expect(scripts.admit()).rejects.toThrow('OOM');
    expect(await scripts.holds()).toEqual({});
  });

  it('lets operators revoke keys and change records', async () => {
    await limitMemory('1');
    expect(await scripts.writeRecord({ fields: { status: 'revoked' } })).toMatchObject({
      kind: 'written',
    });
    expect(await scripts.key()).toMatchObject({ status: 'revoked' });
  });

  it('renews, settles and sweeps what was admitted before, and takes payments', async () => {
    const [settled, left] = [requestNumber(1), requestNumber(2)];
    await scripts.admit({ requestId: settled });
    await scripts.admit({ requestId: left });
    await limitMemory('1');
    expect(await scripts.renew(40, { requestId: left })).toBe('active');
    expect(await scripts.settle(30, { requestId: settled })).toMatchObject({ kind: 'charge' });
    await limitMemory('0');
    await scripts.setClock(NOW_MS + 120_000);
    await limitMemory('1');
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 40 });
    expect(await scripts.credit(5, { paymentId: 'more' })).toMatchObject({
      kind: 'credited',
    });
    expect(await scripts.holds()).toEqual({});
  });
});
