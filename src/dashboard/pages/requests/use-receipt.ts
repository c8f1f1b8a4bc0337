import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Receipt } from '../../api/api-types.ts';
import { type Load, useLoad } from '../../use-load.ts';

const REFRESH_MS = 1_000;

/** The receipt of a request, read again and again until it has ended and was settled. */
export function useReceipt(id: string): Load<Receipt> {
  const [isRunning, setRunning] = useState(false);
  return useLoad(
    async (signal) => {
      const receipt = await api.findRequest(id, signal);
      setRunning(receipt.state === 'running');
      return receipt;
    },
    { of: [id], ...(isRunning && { refreshMs: REFRESH_MS }) },
  );
}
