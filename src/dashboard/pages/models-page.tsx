import { EmptyState } from '../parts/empty-state.tsx';

export function ModelsPage() {
  return <EmptyState title="This page has nothing to show yet" />;
}
