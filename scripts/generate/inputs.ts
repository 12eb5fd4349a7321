// The inputs that turbo hashes for a task, in the turbo.json of its package: every file of another folder that the task's
// code uses and that no task before it has as an input. The lines above MARK are written by hand, for files that are used in
// a way that no import and no path in the code shows.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob, normalize } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import type { GeneratedFile } from "@sotto/keys/generate/generated-file";
import { entriesOf, listFiles, reachFrom, SUITE } from "../test/reach.ts";
import { planOf, type TurboTask } from "../test/tasks.ts";

export const MARK = "// Derived from the code by npm run generate:";
const ROOT = "$TURBO_ROOT$/";
const INPUTS = /"inputs": \[([^\]]*)\]/;

interface Lists {
  /** The text between the brackets, without what is derived. */
  readonly byHand: string;
  readonly derived: readonly string[];
}

const stringsIn = (text: string) =>
  [...text.replace(/^\s*\/\/.*$/gm, "").matchAll(/"([^"]+)"/g)].map(([, one = ""]) => one);

/** The lines of a task in the text of a turbo.json; undefined if it has none. */
function blockOf(text: string, task: string): string | undefined {
  return new RegExp(`^ {4}"${task}": \\{(?:.*\\}|\\n(?: {5,}.*\\n| {4}//.*\\n)* {4}\\}),?\\n`, "m").exec(text)?.[0];
}

function listsOf(text: string, task: string): Lists {
  const [byHand = "", derived = ""] = (INPUTS.exec(blockOf(text, task) ?? "")?.[1] ?? "").split(MARK);
  return {
    byHand: byHand.trimEnd().replace(/,$/, ""),
    derived: stringsIn(derived).map((path) => path.replace(ROOT, "")),
  };
}

/** Whether inputs cover a file; those that are left out by hand need no line either. */
function isCovered(file: string, directory: string, inputs: readonly string[]): boolean {
  return inputs.some((input) => {
    if (input === "$TURBO_DEFAULT$") return directory === "" || file.startsWith(`${directory}/`);
    const pattern = input.replace("!", "");
    return matchesGlob(file, pattern.startsWith(ROOT) ? pattern.slice(ROOT.length) : join(directory, pattern));
  });
}

/** Files of one folder become one line, because files of a folder usually change together. */
const fold = (files: readonly string[]): string[] =>
  [...new Set(files.map((file) => file.replace(/(.*\/(?:src|support)\/(?:.*\/)?)[^/]+(\.m?ts)$/, "$1*$2")))].sort();

/** Puts a list of inputs into the text of a turbo.json. */
function withInputs(text: string, task: string, { byHand, derived }: Lists): string {
  const block = blockOf(text, task);
  if (derived.length === 0 && !block?.includes(MARK)) return text;
  const lines = derived.map((path) => `"${ROOT}${path}"`).join(",\n");
  const first = byHand.trim() === "" ? '"$TURBO_EXTENDS$"' : byHand;
  const inputs = `"inputs": [${first}${derived.length === 0 ? "" : `,\n${MARK}\n${lines}\n`}]`;
  if (block === undefined)
    return text.replace(
      /(\{?)\s*\}\s*\}\s*$/,
      (_, empty) => `${empty === "" ? "," : "{"}\n"${task}": { ${inputs} }\n}\n}\n`,
    );
  const changed = INPUTS.test(block)
    ? block.replace(INPUTS, () => inputs)
    : block.replace(/\s*\}(,?)\n$/, (_, comma) => `${/\{\s*\}/.test(block) ? "" : ","} ${inputs} }${comma}\n`);
  return text.replace(block, () => changed);
}

function format(path: string, text: string): string {
  const args = ["format", `--stdin-file-path=${path}`];
  const { status, stdout, stderr } = spawnSync("biome", args, { cwd: root, input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(`biome cannot read the new ${path} (exit ${status}):\n${stderr}\n${text}`);
  return stdout;
}

/** Every turbo.json with the inputs that follow from the code. */
export async function generateInputs(): Promise<GeneratedFile[]> {
  const files = listFiles(root);
  const tasks = new Map(planOf(root, ["reference", "site"]).map((task) => [task.taskId, task]));
  const texts = new Map<string, string>();
  const pathOf = ({ directory }: TurboTask) => join(directory, "turbo.json");
  const textOf = (path: string) => {
    const empty = '{\n  "extends": ["//"],\n  "tasks": {}\n}\n';
    return texts.get(path) ?? (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : empty);
  };
  const general = readFileSync(join(root, "turbo.json"), "utf8");
  // Other packages import the build of a package that has one, so only its own build uses its task `support`.
  const hasBuild = (id: string) => tasks.get(id.replace(/#.*/, "#build"))?.command !== "<NONEXISTENT>";
  const isDerived = ({ taskId, task, command, directory }: TurboTask) => {
    if (directory === "" || (task === "support" && hasBuild(taskId))) return false;
    return (
      ["runner", "support"].includes(task) ||
      (command !== "<NONEXISTENT>" && (SUITE.test(task) || task === "types")) ||
      /\bnode /.test(command)
    );
  };

  const known = new Map<string, Set<string>>();
  /** The files that a task and those before it have as inputs. */
  function inputsOf(id: string): Set<string> {
    const cached = known.get(id);
    if (cached !== undefined) return cached;
    const all = new Set<string>();
    known.set(id, all);
    const task = tasks.get(id);
    if (task === undefined) return all;
    for (const dependency of task.dependencies) for (const file of inputsOf(dependency)) all.add(file);
    const { directory } = task;
    const path = pathOf(task);
    const lists = listsOf(textOf(path), task.task);
    const own = stringsIn(lists.byHand);
    const inherited = directory !== "" && (own.length === 0 || own.includes("$TURBO_EXTENDS$"));
    const byHand = [...own, ...(inherited ? stringsIn(listsOf(general, task.task).byHand) : [])];
    for (const input of Object.keys(task.inputs ?? {})) {
      const file = normalize(join(directory, input));
      if (!isCovered(file, "", lists.derived) || isCovered(file, directory, byHand)) all.add(file);
    }
    if (!isDerived(task)) return all;
    const reached = [...reachFrom(root, files, entriesOf(root, task), task.task !== "types").files];
    const derived = fold(reached.filter((file) => !all.has(file) && !isCovered(file, directory, byHand)));
    for (const file of files) if (isCovered(file, "", derived)) all.add(file);
    const changed = withInputs(textOf(path), task.task, { ...lists, derived });
    if (changed !== textOf(path)) texts.set(path, changed);
    return all;
  }

  for (const id of [...tasks.keys()].sort()) inputsOf(id);
  return [...texts].map(([path, text]) => ({ path: join(root, path), content: format(path, text) }));
}
