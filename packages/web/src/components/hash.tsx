import { useState } from "react";
import { Icon } from "./icon.tsx";
import { Verbatim } from "./verbatim.tsx";

interface Properties {
  /** An address, a hash or another long text. */
  readonly value: string;
  /** What it is, for the button's label: "transaction". */
  readonly name: string;
  /** Shows the whole value; by default only its first and last characters. */
  readonly full?: boolean | undefined;
}

const shorten = (value: string): string => (value.length > 16 ? `${value.slice(0, 8)}…${value.slice(-6)}` : value);

/** A long value with a button that copies it. */
export function Hash({ value, name, full = false }: Properties) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span className={full ? "hash hash-full" : "hash"}>
      <Verbatim title={value}>{full ? value : shorten(value)}</Verbatim>
      <button type="button" className="icon-button" aria-label={`Copy the ${name}`} onClick={() => void copy()}>
        <Icon name={copied ? "check" : "copy"} />
      </button>
      <span className="hidden-text" role="status">
        {copied ? "copied" : ""}
      </span>
    </span>
  );
}
