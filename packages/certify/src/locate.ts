import { readFileSync } from "node:fs";
import { basename } from "node:path";

// Names places in circom sources for messages and for the names of constraints. Nothing is proven from it.

export interface Statement {
  /** 1-based line. */
  readonly line: number;
  readonly text: string;
  readonly names: ReadonlySet<string>;
  readonly constrains: boolean;
}

interface Template {
  readonly name: string;
  readonly file: string;
  readonly statements: readonly Statement[];
  /** Template of each component that has a name: circom permits one. */
  readonly components: ReadonlyMap<string, string>;
  /** Lines of declared signals. */
  readonly signals: ReadonlyMap<string, number>;
  /** Its inputs and outputs. */
  readonly ports: ReadonlySet<string>;
}

/** A statement in the sources. */
export interface Place {
  readonly template: string;
  readonly file: string;
  /** The first line is 1. */
  readonly line: number;
  readonly text: string;
}

/** Comments, and texts that are logged. */
const NO_CODE = /\/\*[\s\S]*?\*\/|\/\/.*|"[^"\n]*"/g;
const ANONYMOUS = /^([A-Za-z_$]\w*?)_\d+_\d+$/;
const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
const withoutIndices = (name: string) => name.replace(/\[[^\]]*\]/g, "");

/** Tags of a signal: names in braces. A block of statements has a semicolon or another brace. */
const TAGS = /\{\s*[A-Za-z_$][\w$,\s]*\}/g;

function parseTemplate(name: string, file: string, source: string, firstLine: number): Template {
  const body = source.replace(TAGS, blank);
  const statements: Statement[] = [];
  const components = new Map<string, string>();
  const signals = new Map<string, number>();
  const ports = new Set<string>();
  let from = 0;
  for (const end of body.matchAll(/[;{}]/g)) {
    const raw = body.slice(from, end.index);
    const line = firstLine + body.slice(0, from + Math.max(0, raw.search(/\S/))).split("\n").length - 1;
    from = end.index + 1;
    const text = raw.trim().replace(/\s+/g, " ");
    if (text === "" || end[0] === "{") continue;
    for (const [, component, template] of text.matchAll(
      /\b([A-Za-z_$]\w*)(?:\s*\[[^\]]*\])*\s*=\s*(?:parallel\s+)?([A-Za-z_$]\w*)\s*\(/g,
    ))
      components.set(component as string, template as string);
    const declared = /^signal\s+(?:(input|output)\b)?\s*(.*?)(?:<==|<--|$)/.exec(text);
    for (const signal of declared?.[2]?.replace(/[()]/g, "").split(",") ?? []) {
      signals.set(withoutIndices(signal).trim(), line);
      if (declared?.[1] !== undefined) ports.add(withoutIndices(signal).trim());
    }
    const names = new Set([...text.matchAll(/[A-Za-z_$]\w*/g)].map(([found]) => found));
    const constrains = /===|<==|==>/.test(text);
    if (constrains || /<--|-->/.test(text) || /^[A-Z]\w*\s*\(/.test(text))
      statements.push({ line, text, names, constrains });
  }
  return { name, file, statements, components, signals, ports };
}

function closingBrace(text: string, open: number): number {
  for (let depth = 0, i = open; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}" && --depth === 0) return i;
  }
  return text.length;
}

/** The templates of a circuit's source files. */
export class Places {
  readonly #templates = new Map<string, Template>();
  #main = "";

  /** @param files the main and every file that it includes; `shorten` makes the file names of messages */
  constructor(files: readonly string[], shorten: (path: string) => string = (path) => basename(path)) {
    for (const file of files) {
      const text = readFileSync(file, "utf8").replace(NO_CODE, blank);
      for (const head of text.matchAll(/\btemplate\s+(?:custom\s+|parallel\s+)*([A-Za-z_$]\w*)\s*\([^)]*\)\s*\{/g)) {
        const open = head.index + head[0].length - 1;
        const body = text.slice(open + 1, closingBrace(text, open));
        const line = text.slice(0, open + 1).split("\n").length;
        this.#templates.set(head[1] as string, parseTemplate(head[1] as string, shorten(file), body, line));
      }
      const main = /\bcomponent\s+main\b[^=]*=\s*([A-Za-z_$]\w*)/.exec(text)?.[1];
      if (main !== undefined) this.#main = main;
    }
  }

  /** The template of a component ("main.path[0].Hash_3_120"); undefined if the sources do not show it. */
  #templateOf(path: readonly string[]): Template | undefined {
    let template = this.#templates.get(this.#main);
    for (const part of path.slice(1)) {
      const name = withoutIndices(part);
      const known = template?.components.get(name) ?? ANONYMOUS.exec(name)?.[1];
      template = known === undefined ? undefined : this.#templates.get(known);
    }
    return template;
  }

  /** The name of a signal with the templates of anonymous components: "main.ElGamal.EdwardsX.x". */
  static readable(name: string): string {
    return name
      .split(".")
      .map((part) => {
        const indices = part.slice(withoutIndices(part).length);
        return (ANONYMOUS.exec(withoutIndices(part))?.[1] ?? withoutIndices(part)) + indices;
      })
      .join(".");
  }

  /** The statement that a constraint over these signals comes from. */
  statement(names: readonly string[], quadratic: boolean): Place | undefined {
    const paths = names.map((name) => name.split("."));
    if (paths.length === 0) return undefined;
    let depth = 0;
    while (paths.every((path) => path.length > depth + 1 && path[depth] === paths[0]?.[depth])) depth++;
    const owner = (paths[0] as string[]).slice(0, depth);
    const template = this.#templateOf(owner);
    if (template === undefined) return undefined;
    const wanted = new Set(
      paths.flatMap((path) =>
        path.slice(depth).map((part) => ANONYMOUS.exec(withoutIndices(part))?.[1] ?? withoutIndices(part)),
      ),
    );
    let best: Statement | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const statement of template.statements) {
      const missing = [...wanted].filter((name) => !statement.names.has(name)).length;
      const extra = [...statement.names].filter((name) => template.signals.has(name) && !wanted.has(name)).length;
      const shape = /[^*]\*[^*]/.test(statement.text) === quadratic ? 0 : 1;
      const score = 10 * missing + 2 * extra + shape + (statement.constrains ? 0 : 5);
      if (score < fewest) [best, fewest] = [statement, score];
    }
    return best && { template: template.name, file: template.file, line: best.line, text: best.text };
  }

  /**
   * Whether a signal is an input or output of a component: "main.tree.root", of the component tree.
   * @param name circom's
   * @returns undefined if the sources do not show it
   */
  isPort(name: string): boolean | undefined {
    const path = name.split(".");
    const signal = withoutIndices(path.pop() as string);
    if (path.length < 2) return false;
    const template = this.#templateOf(path);
    return template?.signals.has(signal) === true ? template.ports.has(signal) : undefined;
  }

  /** The statement that assigns a signal: a hint (`<--`) if there is one, otherwise the declaration. */
  assignment(name: string): (Place & { hint: boolean; reads: string[] }) | undefined {
    const path = name.split(".");
    const template = this.#templateOf(path.slice(0, -1));
    const signal = withoutIndices(path.at(-1) as string);
    if (template === undefined) return undefined;
    const base = { template: template.name, file: template.file };
    const assigns = template.statements.filter(({ text }) => {
      const [left, right] = text.split(/<--|<==/);
      const target = right === undefined ? text.split(/-->|==>/)[1] : left;
      return new RegExp(`(^|[^\\w.])${signal.replace(/\$/g, "\\$")}\\b`).test(target ?? "");
    });
    const found = assigns.find(({ text }) => /<--|-->/.test(text)) ?? assigns[0];
    if (found !== undefined) {
      const hint = /<--|-->/.test(found.text);
      const reads = [...found.names].filter((read) => read !== signal && template.signals.has(read));
      return { ...base, line: found.line, text: found.text, hint, reads };
    }
    const declared = template.signals.get(signal);
    return declared === undefined
      ? undefined
      : { ...base, line: declared, text: `signal ${signal}`, hint: false, reads: [] };
  }
}
