import type { ComponentChildren } from 'preact';

interface EmptyStateProps {
  readonly title: string;
  /** What the reader can do about it. */
  readonly children?: ComponentChildren;
}

export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}
