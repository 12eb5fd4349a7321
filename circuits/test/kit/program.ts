import { closing } from "./anonymous.ts";
import { closure, locate, type Sources } from "./sources.ts";

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const DEFINITION = /\b(?:template|function)\s+(?:(?:custom|parallel)\s+)*(\w+)\s*\(/g;
const MAIN = /\bcomponent\s+main\s*(?:\{[^}]*\})?\s*=\s*([^;]+);/;
const CALL = /\b(\w+)(?=\s*\()/g;

/** A circuit without its files: its templates and functions by name, without comments, and what its main is. */
export interface Program {
  definitions: ReadonlyMap<string, string>;
  /** `Payment(10)`. */
  main: string;
}

/** Remembers what was made of a text: circomlib's tables are read for every attack. */
function once<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const result = made.get(text) ?? make(text);
    made.set(text, result);
    return result;
  };
}

/** One file's part. */
const partOf = once((text): Program => {
  const code = text.replace(COMMENT, "");
  const definitions = [...code.matchAll(DEFINITION)].map(({ 1: name, index }): [string, string] => [
    name as string,
    code.slice(index, closing(code, code.indexOf("{", index))),
  ]);
  return { definitions: new Map(definitions), main: MAIN.exec(code)?.[1] ?? "" };
});

/** @param main its text, or the path of one of the sources */
export function programOf(sources: Sources, main: string): Program {
  const { all, path } = locate(sources, main);
  const parts = [...closure(all, path).values()].map(partOf);
  return {
    definitions: new Map(parts.flatMap(({ definitions }) => [...definitions])),
    main: partOf(all.get(path) as string).main,
  };
}

/** What a definition, or a main, uses: every word in front of a bracket. */
const callsOf = once((text) => new Set([...text.matchAll(CALL)].map(([name]) => name)));

/** The definitions that main is made of. */
export function reachable({ definitions, main }: Program): Map<string, string> {
  const found = new Map<string, string>();
  const queue = [...callsOf(main)];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const text = definitions.get(name);
    if (text === undefined || found.has(name)) continue;
    found.set(name, text);
    queue.push(...callsOf(text));
  }
  return found;
}

/** The names of what `program` has otherwise than `original`, and of everything that is made of it. */
export function changedNames(program: Program, original: Program): Set<string> {
  const changed = new Set(
    [...program.definitions].filter(([name, text]) => original.definitions.get(name) !== text).map(([name]) => name),
  );
  for (let before = -1; before !== changed.size; ) {
    before = changed.size;
    for (const [name, text] of program.definitions)
      if ([...callsOf(text)].some((called) => changed.has(called))) changed.add(name);
  }
  return changed;
}

/** A text with names changed, where they are called or defined. */
export const rename = (text: string, newName: (name: string) => string): string => text.replace(CALL, newName);
