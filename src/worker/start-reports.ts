import type { WorkerReport } from '../messages/worker-messages.ts';

const REPORT_INTERVAL_MS = 1_000;
/** A change of health is reported at most this much later. */
const POLL_INTERVAL_MS = 100;

/**
 * Reports about once a second, and sooner if the state of an upstream, of the store or of the
 * worker changes. At most one report is under way at a time. Returns a function that stops the
 * reports.
 */
export function startReports(
  read: () => WorkerReport,
  send: (report: WorkerReport, onSent: () => void) => void,
): () => void {
  let pollsSinceReport = 0;
  let sentHealth = '';
  let isSending = false;

  const poll = () => {
    pollsSinceReport += 1;
    if (isSending) return;
    const report = read();
    const health = readHealth(report);
    if (health === sentHealth && pollsSinceReport * POLL_INTERVAL_MS < REPORT_INTERVAL_MS) return;
    pollsSinceReport = 0;
    sentHealth = health;
    isSending = true;
    send(report, () => {
      isSending = false;
    });
  };
  poll();
  const timer = setInterval(poll, POLL_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

function readHealth({ upstreams, storeOutForMs, readiness }: WorkerReport): string {
  return [storeOutForMs > 0, readiness, ...upstreams.map(({ health }) => health)].join(' ');
}
