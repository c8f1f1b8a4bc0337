import { formatTime } from '../format.ts';

/** A moment in the time of the browser; the exact one in UTC is its title. */
export function Moment({ iso }: { readonly iso: string }) {
  return (
    <time dateTime={iso} title={iso}>
      {formatTime(iso)}
    </time>
  );
}
