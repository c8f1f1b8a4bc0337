import { formatTime } from '../format.ts';

/** Shows a time in the browser's time zone; its title is the exact time in UTC. */
export function Moment({ iso }: { readonly iso: string }) {
  return (
    <time dateTime={iso} title={iso}>
      {formatTime(iso)}
    </time>
  );
}
