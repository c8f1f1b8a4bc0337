import { EmptyState } from '../parts/empty-state.tsx';

export function MissingPage() {
  return (
    <EmptyState title="There is nothing at this address">
      <a href="#/overview">Go to the overview</a>
    </EmptyState>
  );
}
