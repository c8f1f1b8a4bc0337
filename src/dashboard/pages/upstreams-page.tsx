import { EmptyState } from '../parts/empty-state.tsx';

export function UpstreamsPage() {
  return <EmptyState title="This page has nothing to show yet" />;
}
