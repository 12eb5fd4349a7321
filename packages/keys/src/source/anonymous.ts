import { closure, type Sources } from "./sources.ts";

// Gives circom's anonymous components, `x <== T(p)(a, b)`, a name (`cut0`, `cut1`, ... in the order of the text), so that a
// test can remove one of their connections.

/** The signals of a template, in order of declaration. */
export interface Interface {
  inputs: string[];
  outputs: string[];
}

const TEMPLATE = /\btemplate\s+(?:custom\s+|parallel\s+)*(\w+)\s*\([^)]*\)\s*\{/g;
const SIGNAL = /\bsignal\s+(input|output)\s+(?:\{[^}]*\}\s*)?([^;<]+)/g;

/** Input and output names in order of declaration, for every template that `file` can see. */
export function interfaces(sources: Sources, file: string): Map<string, Interface> {
  const found = new Map<string, Interface>();
  for (const text of closure(sources, file).values()) {
    const heads = [...text.replace(/\/\/.*$/gm, "").matchAll(TEMPLATE)];
    const code = text.replace(/\/\/.*$/gm, "");
    for (const [index, head] of heads.entries()) {
      const body = code.slice(head.index, heads[index + 1]?.index ?? code.length);
      const signals = [...body.matchAll(SIGNAL)].flatMap(([, kind, names]) =>
        (names as string).split(",").map((name) => ({ kind, name: name.trim().replace(/\[.*$/s, "").trim() })),
      );
      const of = (kind: string) => signals.filter((signal) => signal.kind === kind).map(({ name }) => name);
      found.set(head[1] as string, { inputs: of("input"), outputs: of("output") });
    }
  }
  return found;
}

/** The index just after the bracket that closes the bracket at `open`. */
export function closing(text: string, open: number): number {
  for (let depth = 0, i = open; i < text.length; i++) {
    if ("([{".includes(text[i] as string)) depth++;
    if (")]}".includes(text[i] as string) && --depth === 0) return i + 1;
  }
  throw new Error(`no bracket closes the one at ${text.slice(open, open + 40)}`);
}

function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= text.length; i++) {
    const character = text[i] ?? ",";
    if ("([{".includes(character)) depth++;
    if (")]}".includes(character)) depth--;
    if ((character === "," && depth === 0) || i === text.length) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return parts.filter((part) => part !== "");
}

const LOOP = /for\s*\(\s*var\s+(\w+)\s*=\s*([^;]+);\s*\w+\s*<\s*([^;]+);[^)]*\)\s*\{/g;

/**
 * The loops that are open at the end of `before`: how many rounds each has run (circom counts anonymous components of a
 * loop from 0), how many it will run, and where the outermost starts.
 */
function openLoops(before: string): { indices: string[]; bounds: string[]; start: number } {
  const open = [...before.matchAll(LOOP)].filter((loop) => {
    const brace = loop.index + loop[0].length - 1;
    let depth = 0;
    for (const character of before.slice(brace)) {
      if (character === "{") depth++;
      if (character === "}" && --depth === 0) return false;
    }
    return true;
  });
  return {
    indices: open.map((loop) => since(loop[1] as string, loop)),
    bounds: open.map((loop) => since((loop[3] as string).trim(), loop)),
    start: open[0]?.index ?? before.length,
  };
}

const since = (value: string, loop: RegExpExecArray): string =>
  loop[2]?.trim() === "0" ? value : `${value} - ${loop[2]?.trim()}`;
const blank = (comment: string) => " ".repeat(comment.length);
const CALL = /(?:(signal\s+)?([\w.[\]\s*+\-()\\,]+?)\s*<==\s*)?\b([A-Za-z_]\w*)\s*\(/y;

/**
 * Names every anonymous component whose statement starts in [start, end) of the file. Comments in that range are
 * blanked. Returns the whole new text and the new end of the range.
 */
export function nameComponents(sources: Sources, file: string, start: number, end: number): [string, number, number] {
  const known = interfaces(sources, file);
  let text = sources.get(file) as string;
  text = text.slice(0, start) + text.slice(start, end).replace(/\/\/.*$/gm, blank) + text.slice(end);
  let [from, stop, count] = [start, end, 0];
  for (let at = start; at < stop; ) {
    CALL.lastIndex = at + /^[\s{}]*/.exec(text.slice(at))![0].length;
    const call = CALL.exec(text);
    const open = call === null ? -1 : CALL.lastIndex - 1;
    const second = call === null ? -1 : closing(text, open);
    if (call === null || !known.has(call[3] as string) || text[second] !== "(") {
      const next = text.slice(at).search(/[;{]/);
      at = next < 0 ? stop : at + next + 1;
      continue;
    }
    const finish = closing(text, second);
    const [, declaration, target, template] = call as unknown as [string, string?, string?, string?];
    const { inputs, outputs } = known.get(template as string) as Interface;
    const name = `cut${count++}`;
    const loops = openLoops(text.slice(0, call.index));
    const indexed = name + loops.indices.map((index) => `[${index}]`).join("");
    const values = splitArguments(text.slice(second + 1, finish - 1));
    if (values.length !== inputs.length) throw new Error(`${file}: ${template} takes ${inputs.join(", ")}`);
    const built = `${template}${text.slice(open, second)}`;
    const targets = target === undefined || target.trim() === "_" ? [] : splitTargets(target);
    const statements = [
      loops.indices.length === 0 ? `component ${name} = ${built};` : `${indexed} = ${built};`,
      ...inputs.map((input, i) => `${indexed}.${input} <== ${values[i]};`),
      ...targets.flatMap((to, i) =>
        to === "_" ? [] : [`${declaration ? "signal " : ""}${to} <== ${indexed}.${outputs[i]};`],
      ),
    ].join(" ");
    text = text.slice(0, call.index) + statements + text.slice(finish + 1);
    at = call.index + statements.length;
    stop += statements.length - (finish + 1 - call.index);
    if (loops.indices.length > 0) {
      const declared = `component ${name}${loops.bounds.map((bound) => `[${bound}]`).join("")};\n`;
      text = text.slice(0, loops.start) + declared + text.slice(loops.start);
      at += declared.length;
      stop += declared.length;
      // A loop that encloses the whole range starts before it.
      if (loops.start < from) from += declared.length;
    }
  }
  return [text, from, stop];
}

const splitTargets = (target: string): string[] => {
  const trimmed = target.trim();
  return trimmed.startsWith("(") ? splitArguments(trimmed.slice(1, -1)) : [trimmed];
};

/**
 * Renames `cut0` ... to the names that circom gives to anonymous components, template and position, so that the names
 * of signals agree with those of the unchanged source (see symbols.ts).
 */
export function finishNames(text: string): string {
  const digits = (value: number) => String(value).padStart(8, "0");
  const cuts = [...text.matchAll(/\b(cut(\d+))(?:\[[^\]]+\])*\s*=\s*([A-Za-z_]\w*)\s*\(/g)].map(
    ([, name, number, template]) => ({ name, template, stand: `${template}_0_${digits(99999999 - Number(number))}` }),
  );
  // The first pass uses names of the final length, so that no later rename changes a position.
  for (const { name, stand } of cuts) text = text.replace(new RegExp(`\\b${name}\\b`, "g"), stand);
  for (const { template, stand } of cuts) text = text.replaceAll(stand, `${template}_0_${digits(text.indexOf(stand))}`);
  return text;
}
