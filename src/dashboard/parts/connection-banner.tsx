import { connection } from '../api/events.ts';

/**
 * The live region is always there, because screen readers announce only what is added to it later.
 */
export function ConnectionBanner() {
  const now = connection.value;
  return (
    <div role="status" class="connection">
      {now.state === 'lost' && <p class="banner">Connection lost, trying again: {now.reason}.</p>}
      {now.state === 'waiting' && (
        <p class="notice">
          Live figures are paused: other windows of this browser use all of its connections. Close
          or hide one.
        </p>
      )}
    </div>
  );
}
