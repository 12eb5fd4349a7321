import { useId } from "react";

interface Properties<T extends string> {
  readonly label: string;
  /** Texts by value, in their order. */
  readonly options: ReadonlyMap<T, string>;
  readonly value: NoInfer<T>;
  onChange(value: NoInfer<T>): void;
}

/** A labelled list from which one value is chosen. */
export function Select<T extends string>({ label, options, value, onChange }: Properties<T>) {
  const id = useId();
  return (
    <span className="select-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={({ target }) => onChange(target.value as T)}>
        {[...options].map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}
