import type { HTMLAttributes } from "react";

interface Properties extends HTMLAttributes<HTMLElement> {
  readonly as?: "code" | "dd" | "ol" | "p" | "pre" | "span" | "strong" | undefined;
}

/**
 * Text that a browser's translator must not change: words of a seed, addresses, amounts, hashes, URLs, codes. Some
 * translators respect the attribute, others only the class.
 */
export const Verbatim = ({ as: Tag = "span", className = "", ...rest }: Properties) => (
  <Tag {...rest} translate="no" className={`${className} notranslate`.trimStart()} />
);
