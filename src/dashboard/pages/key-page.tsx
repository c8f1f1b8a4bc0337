import { api } from '../api/api.ts';
import { Loaded } from '../parts/loaded.tsx';
import { useLoad } from '../use-load.ts';
import { KeyHead } from './key/key-head.tsx';
import { KeyLimits } from './key/key-limits.tsx';
import type { PageProps } from './page-props.ts';

const REFRESH_MS = 2_000;

export function KeyPage({ id }: PageProps) {
  const key = useLoad((signal) => api.getKey(id, signal), { of: [id], refreshMs: REFRESH_MS });
  return (
    <Loaded load={key}>
      {(value) => (
        <>
          <KeyHead shown={value} onChanged={key.reload} />
          <KeyLimits id={id} />
        </>
      )}
    </Loaded>
  );
}
