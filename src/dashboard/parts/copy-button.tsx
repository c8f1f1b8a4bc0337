import { useState } from 'preact/hooks';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied: `key`. */
  readonly what: string;
  readonly onCopied?: () => void;
  readonly isSmall?: boolean;
}

type Outcome = 'copied' | 'failed' | undefined;

/** Browsers let a page write to the clipboard only over https or on this machine. */
export function CopyButton({ text, what, onCopied, isSmall = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>();
  const copy = () => {
    const written =
      navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
    written.then(
      () => {
        setOutcome('copied');
        onCopied?.();
      },
      () => setOutcome('failed'),
    );
  };
  return (
    <span class="copy">
      <button type="button" class={isSmall ? 'small' : undefined} onClick={copy}>
        Copy {what}
      </button>
      <span role="status">
        {outcome === 'copied' && 'Copied.'}
        {outcome === 'failed' && 'The browser refused: select and copy it by hand.'}
      </span>
    </span>
  );
}
