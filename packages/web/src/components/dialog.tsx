import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

interface Properties {
  readonly title: string;
  /** Called when the user closes it: with Escape, or with the button. */
  onClose(): void;
  readonly children: ReactNode;
}

/** A modal dialog, open as long as it is rendered. The browser keeps the focus inside. */
export function Dialog({ title, onClose, children }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="dialog-body stack">{children}</div>
    </dialog>
  );
}

/** Closes a dialog whose action is finished. */
export const DoneButton = ({ onClose }: { onClose(): void }) => (
  <div className="dialog-actions">
    <Button kind="primary" onClick={onClose}>
      Done
    </Button>
  </div>
);
