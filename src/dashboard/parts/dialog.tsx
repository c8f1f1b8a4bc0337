import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Also called on Escape. The dialog still stays open as long as it is rendered. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/**
 * A dialog that is open as long as it is rendered. The browser keeps the focus inside and returns
 * it afterwards.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // On a second Escape the browser closes the dialog without asking first.
        if (dialog.current === null) return;
        dialog.current.showModal();
        onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
