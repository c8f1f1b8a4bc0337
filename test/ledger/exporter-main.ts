import type { ExportPace } from '../../src/ledger/export-pace.ts';
import { startLedgerExporter } from '../../src/ledger/start-ledger-exporter.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { openConnection, standalone, tcp } from '../support/servers/redis-connection.ts';

/** The argument of the process, as JSON. */
export interface ExporterOrder {
  readonly port: number;
  readonly dir: string;
  readonly nodeId: string;
  readonly pace: ExportPace;
}

/** An exporter in its own process, so that a test can kill it. */
const { port, dir, nodeId, pace } = JSON.parse(process.argv[2] ?? '') as ExporterOrder;
startLedgerExporter({
  connection: openConnection(standalone(tcp(port))),
  dir,
  nodeId,
  clock: { nowMs: () => Date.now() },
  log: createMemoryLog(),
  pace,
});
