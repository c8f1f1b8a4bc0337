import type { WorkerReport } from '../messages/worker-messages.ts';

const REPORT_INTERVAL_MS = 1_000;
/** How late a change of health may be told. */
const LOOK_INTERVAL_MS = 100;

/**
 * Tells about once a second how it is, and sooner when somebody's health has changed; never more than one
 * report is on its way. Answers how to stop.
 */
export function startReports(
  read: () => WorkerReport,
  send: (report: WorkerReport, told: () => void) => void,
): () => void {
  let looksSinceReport = 0;
  let toldHealth = '';
  let isSending = false;

  const look = () => {
    looksSinceReport += 1;
    if (isSending) return;
    const report = read();
    const health = readHealth(report);
    if (health === toldHealth && looksSinceReport * LOOK_INTERVAL_MS < REPORT_INTERVAL_MS) return;
    looksSinceReport = 0;
    toldHealth = health;
    isSending = true;
    send(report, () => {
      isSending = false;
    });
  };
  look();
  const timer = setInterval(look, LOOK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

function readHealth({ upstreams, storeOutForMs, readiness }: WorkerReport): string {
  return [storeOutForMs > 0, readiness, ...upstreams.map(({ health }) => health)].join(' ');
}
