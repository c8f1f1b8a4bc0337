import { waitUntil } from '../../support/wait-until.ts';

const QUIET_POLLS = 20;

/** Waits until nothing has changed for many polls in a row. */
export async function waitUntilQuiet(read: () => number): Promise<void> {
  let last = Number.NaN;
  let quietPolls = 0;
  await waitUntil(() => {
    const value = read();
    quietPolls = value === last ? quietPolls + 1 : 0;
    last = value;
    return quietPolls === QUIET_POLLS;
  }, 'nothing changes any more');
}
