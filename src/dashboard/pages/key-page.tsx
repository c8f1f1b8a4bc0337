import { api } from '../api/api.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../use-load.ts';
import { KeyHead } from './key/key-head.tsx';
import { KeyLimitList } from './key/key-limit-list.tsx';
import type { PageProps } from './page-props.ts';

const REFRESH_MS = 2_000;

export function KeyPage({ id }: PageProps) {
  const key = useLoad((signal) => api.getKey(id, signal), { of: [id], refreshMs: REFRESH_MS });
  return (
    <LoadView load={key}>
      {(value) => (
        <>
          <KeyHead shown={value} onChanged={key.reload} />
          <KeyLimitList id={id} />
        </>
      )}
    </LoadView>
  );
}
