interface Properties<T extends string> {
  /** Label of the choice, for screen readers. */
  readonly label: string;
  readonly options: Readonly<Record<T, string>>;
  readonly value: NoInfer<T>;
  onChange(value: NoInfer<T>): void;
}

/** A choice of a few views, side by side. */
export function Segments<T extends string>({ label, options, value, onChange }: Properties<T>) {
  return (
    <fieldset className="segments">
      <legend className="hidden-text">{label}</legend>
      {(Object.entries(options) as [T, string][]).map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
