import { connection } from '../api/events.ts';

/** The live region is always there: what comes into it later is read out. */
export function ConnectionBanner() {
  const now = connection.value;
  return (
    <div role="status" class="connection">
      {now.state === 'lost' && <p class="banner">Connection lost, trying again: {now.reason}.</p>}
    </div>
  );
}
