import { closing } from "@sotto/keys/source/anonymous";
import { closure, locate, type Sources } from "@sotto/keys/source/sources";

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const DEFINITION = /\b(?:template|function)\s+(?:(?:custom|parallel)\s+)*(\w+)\s*\(/g;
const MAIN = /\bcomponent\s+main\s*(?:\{[^}]*\})?\s*=\s*([^;]+);/;
const CALL = /\b(\w+)(?=\s*\()/g;

/** A circuit as one program: its templates and functions by name, without comments, and its main. */
export interface Program {
  definitions: ReadonlyMap<string, string>;
  /** `Payment(10)`. */
  main: string;
}

/** Caches the parsed text, because Poseidon's tables are read for every attack. */
function once<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const result = made.get(text) ?? make(text);
    made.set(text, result);
    return result;
  };
}

/** The definitions of one file. */
const partOf = once((text): Program => {
  const code = text.replace(COMMENT, "");
  const definitions = [...code.matchAll(DEFINITION)].map(({ 1: name, index }): [string, string] => [
    name as string,
    code.slice(index, closing(code, code.indexOf("{", index))),
  ]);
  return { definitions: new Map(definitions), main: MAIN.exec(code)?.[1] ?? "" };
});

/** @param main a text, or the path of one of the sources */
export function programOf(sources: Sources, main: string): Program {
  const { all, path } = locate(sources, main);
  const parts = [...closure(all, path).values()].map(partOf);
  return {
    definitions: new Map(parts.flatMap(({ definitions }) => [...definitions])),
    main: partOf(all.get(path) as string).main,
  };
}

/** Names that a definition or a main uses: every word followed by an opening bracket. */
const callsOf = once((text) => new Set([...text.matchAll(CALL)].map(([name]) => name)));

/** The definitions that main uses, directly or indirectly. */
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

/** Names of the definitions of `program` that differ from `original`, and of everything that uses them. */
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

/** Renames calls and definitions in a text. */
export const rename = (text: string, newName: (name: string) => string): string => text.replace(CALL, newName);
