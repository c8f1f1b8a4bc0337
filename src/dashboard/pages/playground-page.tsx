import { EmptyState } from '../parts/empty-state.tsx';

export function PlaygroundPage() {
  return <EmptyState title="This page has nothing to show yet" />;
}
