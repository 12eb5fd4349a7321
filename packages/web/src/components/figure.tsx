import type { ReactNode } from "react";

interface Properties {
  readonly name: string;
  readonly value: ReactNode;
  /** One line below the value. */
  readonly note?: ReactNode;
  readonly tone?: "warn" | "bad" | undefined;
}

/** A number with its name. Use it within `Figures`. */
export const Figure = ({ name, value, note, tone }: Properties) => (
  <div className="figure" data-tone={tone}>
    <dt>{name}</dt>
    <dd className="number">{value}</dd>
    {note !== undefined && <dd className="figure-note">{note}</dd>}
  </div>
);

/** The main numbers of a page. */
export const Figures = ({ children }: { readonly children: ReactNode }) => <dl className="figures card">{children}</dl>;
