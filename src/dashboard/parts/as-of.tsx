import { useEffect, useState } from 'preact/hooks';
import type { BooksTime } from '../api/books-types.ts';
import { formatLength, formatTimeOfDay, formatUtcTime } from '../format.ts';

const LATE_MS = 60_000;
const TICK_MS = 5_000;

interface AsOfProps {
  readonly time: BooksTime;
  /** Whether it is shown with its day, in UTC. */
  readonly isUtc?: boolean;
}

/**
 * Says up to when figures of the books are. It warns if the books were more than a minute behind
 * when they were asked, and says so if that was more than a minute ago.
 */
export function AsOf({ time: { until, answeredMs, readMs }, isUtc = false }: AsOfProps) {
  const nowMs = useNow();
  if (until === null) return <p class="as-of">The books have no entry yet.</p>;
  const lateMs = answeredMs - Date.parse(until);
  const ageMs = nowMs - readMs;
  const [isLate, isOld] = [lateMs > LATE_MS, ageMs > LATE_MS];
  return (
    <p class={isLate ? 'as-of late' : 'as-of'} role={isLate ? 'status' : undefined}>
      {isLate && (
        <strong class="not-printed">
          The books {isOld ? 'were' : 'are'} {formatLength(lateMs)} behind.{' '}
        </strong>
      )}
      {isOld && <span class="not-printed">Read {formatLength(ageMs)} ago. </span>}
      <time dateTime={until} title={until}>
        As of {isUtc ? `${formatUtcTime(until)} UTC` : formatTimeOfDay(until)}
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
