// Reads and runs the examples of docs/api.md: pairs of code blocks, a request and its response.
import { expect } from "chai";

export interface Example {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    /** The body, with `<name>` in place of a value. */
    readonly text: string | undefined;
  };
  readonly status: number;
  readonly body: unknown;
}

export function readExamples(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```http\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  const examples: Example[] = [];
  for (let index = 0; index < blocks.length; index += 2) {
    const [head = "", text] = split(blocks[index]!);
    const [first = "", ...lines] = head.split("\n");
    const [method = "", path = ""] = first.split(" ");
    const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
    const [status = "", answer = "null"] = split(blocks[index + 1]!);
    const code = /^HTTP\/1\.1 (\d{3})/.exec(status)?.[1];
    examples.push({ request: { method, path, headers, text }, status: Number(code), body: JSON.parse(answer) });
  }
  return examples;
}

function split(block: string): [string, string | undefined] {
  const [head = "", ...rest] = block.trim().split("\n\n");
  return [head, rest.length === 0 ? undefined : rest.join("\n\n")];
}

/** Replaces every `"<name>"` in a text by that value as JSON. */
export function fill(text: string, values: ReadonlyMap<string, unknown>): string {
  return text.replace(/"<(\w+)>"/g, (whole, name: string) => {
    if (!values.has(name)) throw new Error(`nothing is known of ${whole}`);
    return JSON.stringify(values.get(name));
  });
}

/** Compares a response; `<name>` matches any value the first time, and the same value afterwards. */
export function expectLike(actual: unknown, expected: unknown, values: Map<string, unknown>): void {
  const name = typeof expected === "string" ? /^<(\w+)>$/.exec(expected)?.[1] : undefined;
  if (name === "message") return void expect(actual).to.be.a("string").and.not.equal("");
  if (name !== undefined) {
    expect(actual, name).to.not.equal(undefined);
    if (values.has(name)) expect(actual, name).to.deep.equal(values.get(name));
    values.set(name, actual);
    return;
  }
  if (typeof expected !== "object" || expected === null) return void expect(actual).to.deep.equal(expected);
  expect(actual).to.be.an(Array.isArray(expected) ? "array" : "object");
  expect(Object.keys(actual as object).sort()).to.deep.equal(Object.keys(expected).sort());
  for (const [key, value] of Object.entries(expected))
    expectLike((actual as Record<string, unknown>)[key], value, values);
}
