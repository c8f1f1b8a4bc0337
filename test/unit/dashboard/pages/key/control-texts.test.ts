import { describe, expect, it } from 'vitest';
import {
  NO_CONTROLS,
  readControls,
  showControls,
} from '../../../../../src/dashboard/pages/key/control-texts.ts';

const KEY = {
  ...{ id: 'k', account: 'a', name: 'batch', last4: 'abcd', status: 'active' },
  ...{ rpm: 5, models: ['haiku', 'opus'], monthly_cap: 0.5, concurrency: null },
  ...{ spent_this_month: 0, held: 0, created_at: '2026-01-01T00:00:00.000Z', rotated_at: null },
  ...{ group: null, limits: [], user_limits: [], require_user: false, version: 1 },
  expires_at: '2030-06-01T10:20:30.456Z',
};

describe('the controls of a key as text', () => {
  it('are sent only where they were changed, so that nothing else is rounded or overwritten', () => {
    const shown = showControls(KEY);
    expect(shown).toMatchObject({ rpm: '5', models: 'haiku, opus', concurrency: '' });
    expect(readControls(shown, shown)).toEqual({});
    expect(readControls(shown, { ...shown, rpm: '6' })).toEqual({ rpm: 6 });
  });

  it('are removed where they were emptied', () => {
    expect(readControls(showControls(KEY), NO_CONTROLS)).toEqual({
      ...{ name: null, rpm: null, models: null, monthly_cap: null, expires_at: null },
    });
  });

  it('have times of the browser, to the minute', () => {
    const shown = showControls(KEY);
    const moved = readControls(NO_CONTROLS, { ...NO_CONTROLS, expires_at: shown.expires_at });
    expect(moved).toEqual({ expires_at: '2030-06-01T10:20:00.000Z' });
  });

  it.each(['5O', '1e3', '0x10', '--5', '1,5', '5 credits'])(
    'never take %s for nothing, which would remove a limit',
    (text) => {
      for (const field of ['rpm', 'monthly_cap', 'concurrency'] as const) {
        const read = () => readControls(showControls(KEY), { ...NO_CONTROLS, [field]: text });
        expect(read).toThrow(`${field}: ${text} is not a number`);
      }
    },
  );

  it('take models with any space between them', () => {
    const models = ' haiku ,, opus,';
    expect(readControls(NO_CONTROLS, { ...NO_CONTROLS, models })).toEqual({
      models: ['haiku', 'opus'],
    });
  });
});
