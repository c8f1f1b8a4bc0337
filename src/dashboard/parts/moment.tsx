import { formatTime, formatUtcTime } from '../format.ts';

interface MomentProps {
  readonly iso: string;
  /** Whether it is shown in UTC, as the months of the books are. A word beside it has to say so. */
  readonly isUtc?: boolean;
}

/** Shows a time in the browser's time zone; its title is the exact time in UTC. */
export function Moment({ iso, isUtc = false }: MomentProps) {
  return (
    <time dateTime={iso} title={iso}>
      {isUtc ? formatUtcTime(iso) : formatTime(iso)}
    </time>
  );
}
