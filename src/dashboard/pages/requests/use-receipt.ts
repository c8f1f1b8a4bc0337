import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Receipt } from '../../api/api-types.ts';
import { type Load, useLoad } from '../../loading/use-load.ts';

const REFRESH_MS = 1_000;

/** Reads the receipt of a request again and again until the request has ended and is settled. */
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
