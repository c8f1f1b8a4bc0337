import { useEffect, useState } from 'preact/hooks';
import { formatAge, formatTimeOfDay } from '../format.ts';

const LATE_MS = 60_000;
const TICK_MS = 5_000;

interface AsOfProps {
  /** Up to when the books are; null before their first entry. */
  readonly until: string | null;
}

/** Says up to when figures of the books are, and warns if that is more than a minute ago. */
export function AsOf({ until }: AsOfProps) {
  const nowMs = useNow();
  if (until === null) return <p class="as-of">The books have no entry yet.</p>;
  const isLate = nowMs - Date.parse(until) > LATE_MS;
  return (
    <p class={isLate ? 'as-of late' : 'as-of'} role={isLate ? 'status' : undefined}>
      {isLate && <strong>The books are {formatAge(until, nowMs)} behind. </strong>}
      <time dateTime={until} title={until}>
        As of {formatTimeOfDay(until)}
      </time>
    </p>
  );
}

function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
