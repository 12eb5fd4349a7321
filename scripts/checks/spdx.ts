// Evaluates SPDX licence expressions as far as package.json files use them: identifiers, AND, OR, WITH and parentheses.

/** Permissive: they ask only for the licence text, and some for a notice of changes. A program with such code may have any licence. */
const PERMISSIVE = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "WTFPL",
  "Zlib",
]);

/** Compatible with GPL-3.0-or-later, by the list of the Free Software Foundation (Apache-2.0 is, with version 3). */
const COMPATIBLE = new Set([
  ...PERMISSIVE,
  ...["GPL-3.0", "GPL-3.0-only", "GPL-3.0-or-later", "LGPL-3.0", "LGPL-3.0-only", "LGPL-3.0-or-later", "MPL-2.0"],
]);

/** @returns whether a choice of an expression's alternatives is permissive; false for an expression that cannot be parsed */
export function isPermissive(expression: string): boolean {
  return isOneOf(expression, PERMISSIVE);
}

/**
 * @param expression an SPDX expression, such as "(MIT OR Apache-2.0) AND ISC"
 * @returns whether a choice of its alternatives is compatible with GPL-3.0-or-later; false for an expression that cannot be
 *   parsed
 */
export function isCompatible(expression: string): boolean {
  return isOneOf(expression, COMPATIBLE);
}

function isOneOf(expression: string, accepted: ReadonlySet<string>): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const primary = (): boolean => {
    const token = tokens[at++];
    if (token === undefined || token === ")" || token === "OR" || token === "AND" || token === "WITH") return false;
    if (token === "(") {
      const inner = alternatives();
      return tokens[at++] === ")" && inner;
    }
    if (tokens[at] !== "WITH") return accepted.has(token);
    at += 2;
    return accepted.has(`${token} WITH ${tokens[at - 1]}`);
  };
  const conjunction = (): boolean => {
    let result = primary();
    while (tokens[at] === "AND") {
      at += 1;
      const next = primary();
      result = result && next;
    }
    return result;
  };
  const alternatives = (): boolean => {
    let result = conjunction();
    while (tokens[at] === "OR") {
      at += 1;
      const next = conjunction();
      result = result || next;
    }
    return result;
  };
  const result = alternatives();
  return result && at === tokens.length;
}
