import type { ReactNode } from "react";

interface Properties {
  /** Column titles; a title that starts with ">" is aligned to the right. */
  readonly columns: readonly string[];
  /** What the table shows, for screen readers. */
  readonly caption: string;
  /** Rows: `tr` elements with as many cells. */
  readonly children: ReactNode;
}

/** A table that scrolls sideways if it is wider than the page. */
export const Table = ({ columns, caption, children }: Properties) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus, the keyboard cannot scroll it.
  <section className="table-wrap" aria-label={caption} tabIndex={0}>
    <table className="table">
      <caption className="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map((title) => (
            <th key={title} scope="col" className={title.startsWith(">") ? "right" : undefined}>
              {title.replace(/^>/, "")}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
