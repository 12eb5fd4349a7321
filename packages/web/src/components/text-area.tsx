import { type ReactNode, type TextareaHTMLAttributes, useId } from "react";

interface Properties extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "onChange"> {
  readonly label: string;
  readonly hint?: ReactNode;
  onChange(value: string): void;
}

/** A labelled input of several lines. */
export function TextArea({ label, hint, onChange, className = "mono", ...rest }: Properties) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={`input ${className}`}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={({ target }) => onChange(target.value)}
        {...rest}
      />
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
