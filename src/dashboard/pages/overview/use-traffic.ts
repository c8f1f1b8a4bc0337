import { useEffect, useState } from 'preact/hooks';
import { followEvents } from '../../api/events.ts';
import type { Sample } from '../../sample.ts';
import { addSummary, traffic } from '../../traffic.ts';

interface NodeTraffic {
  readonly node: string;
  readonly samples: readonly Sample[];
}

/** What one node reported since it was chosen; without one, all nodes since the sign-in. */
export function useTraffic(node: string | undefined): readonly Sample[] {
  const [chosen, setChosen] = useState<NodeTraffic | undefined>();
  useEffect(() => {
    if (node === undefined) return;
    setChosen({ node, samples: [] });
    return followEvents({
      node,
      onEvent: (event) =>
        setChosen((last) => ({ node, samples: addSummary(last?.samples ?? [], event) })),
    });
  }, [node]);
  if (node === undefined) return traffic.value;
  return chosen?.node === node ? chosen.samples : [];
}
