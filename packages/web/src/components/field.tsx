import { trimPasted } from "@sotto/protocol";
import { type InputHTMLAttributes, useId } from "react";
import { Verbatim } from "./verbatim.tsx";

interface Properties extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Shown at the end of the input. */
  readonly unit?: string | undefined;
  onChange(value: string): void;
}

/** A labelled input. */
export function Field({ label, hint, unit, onChange, ...rest }: Properties) {
  const id = useId();
  const input = (
    <input
      id={id}
      className="input"
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      // The browser's own check of URLs would refuse the invisible characters that chats and contacts add.
      onChange={({ target }) => onChange(target.type === "url" ? trimPasted(target.value) : target.value)}
      {...rest}
    />
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {unit === undefined ? (
        input
      ) : (
        <div className="input-unit">
          {input}
          <Verbatim>{unit}</Verbatim>
        </div>
      )}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
