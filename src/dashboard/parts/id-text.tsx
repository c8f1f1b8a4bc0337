import { CopyButton } from './copy-button.tsx';

/** Shows an id beside the name that people know the thing by. */
export function IdText({ id }: { readonly id: string }) {
  return (
    <span class="id-text">
      <code>{id}</code> <CopyButton text={id} what="id" isSmall />
    </span>
  );
}
