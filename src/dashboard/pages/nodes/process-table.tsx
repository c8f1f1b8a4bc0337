import { formatFigure, formatMs } from '../../format.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { ProcessFigures } from './measure-processes.ts';

const BYTES_PER_MIB = 1024 ** 2;

export function ProcessTable({ processes }: { readonly processes: readonly ProcessFigures[] }) {
  return (
    <DataTable
      caption="Memory now, of all workers together, and the longest delay of the event loop in a second, since the start"
      rows={processes}
      keyOf={({ process }) => process}
      emptyText="The node reports no processes"
      columns={[
        { title: 'Processes', cell: ({ process }) => process },
        { title: 'Resident', cell: ({ memory }) => formatMebibytes(memory.rss), isNumber: true },
        { title: 'Heap', cell: ({ memory }) => formatMebibytes(memory.heapUsed), isNumber: true },
        {
          title: 'Outside of it',
          cell: ({ memory }) => formatMebibytes(memory.external),
          isNumber: true,
        },
        { title: 'Lag, half within', cell: (row) => formatLag(row.lagMsP50), isNumber: true },
        { title: 'Lag, 99 % within', cell: (row) => formatLag(row.lagMsP99), isNumber: true },
      ]}
    />
  );
}

const formatMebibytes = (bytes: number): string => `${formatFigure(bytes / BYTES_PER_MIB)} MiB`;
const formatLag = (ms: number | undefined): string => (ms === undefined ? '–' : formatMs(ms));
