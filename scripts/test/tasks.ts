// The tasks of turbo.json that `npm test` runs: those that test or check something.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Task {
  /** Its name in turbo: `@sotto/test-client#test:2`. */
  readonly id: string;
  /** Its name in reports: `test/client 2`, `types of client`, `lint`. */
  readonly name: string;
  readonly kind: "suite" | "check";
  /** Folder of its package, from the root of the checkout; empty for the root. */
  readonly folder: string;
  /** The script it runs: `test:2`. */
  readonly script: string;
}

export interface TurboTask {
  readonly taskId: string;
  readonly task: string;
  readonly command: string;
  readonly directory: string;
  /** Paths relative to the folder, with the hashes of the files. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly dependencies: readonly string[];
}

const SUITES = ["test", "test:2", "test:3"];
const isCheck = (script: string) => script === "types" || script.startsWith("check:");

/** turbo lists every task for every package; this is the command it lists for a package without such a script. */
const EMPTY = "<NONEXISTENT>";

function toTask({ taskId, task, directory }: TurboTask): Task {
  const base = { id: taskId, folder: directory, script: task };
  if (task === "types") return { ...base, kind: "check", name: `types of ${directory.replace("packages/", "")}` };
  if (isCheck(task)) return { ...base, kind: "check", name: task.slice("check:".length) };
  return { ...base, kind: "suite", name: `${directory}${task.replace(/^test:?/, " ").trimEnd()}` };
}

/** All tasks of testing and checking, including builds. @param filters further options of turbo */
export function planOf(root: string, filters: readonly string[] = []): TurboTask[] {
  const { tasks: known } = JSON.parse(readFileSync(join(root, "turbo.json"), "utf8")) as { tasks: object };
  const checks = Object.keys(known)
    .map((name) => name.replace("//#", ""))
    .filter((name) => name.startsWith("check:"));
  const args = ["run", ...SUITES, "types", ...checks, "--dry=json", ...filters];
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const { status, stdout, stderr } = spawnSync("turbo", args, options);
  if (status !== 0) throw new Error(`turbo could not list the tasks (exit ${status}):\n${stdout}${stderr}`);
  return (JSON.parse(stdout) as { tasks: TurboTask[] }).tasks;
}

/** @param filters further options of turbo */
export const listTasks = (root: string, filters: readonly string[] = []): Task[] =>
  planOf(root, filters)
    .filter(({ task, command }) => command !== EMPTY && (SUITES.includes(task) || isCheck(task)))
    .map(toTask);

/** The packages that differ from the branch main or depend on one that does, and the checks of the whole checkout. */
export function listAffected(root: string): Task[] {
  const affected = new Set(listTasks(root, ["--affected"]).map(({ id }) => id));
  return listTasks(root).filter(({ id, folder }) => folder === "" || affected.has(id));
}

/**
 * Whether a name that the user typed refers to this task: a folder, the end of one, a check, `checks`, `suites` or
 * `types`.
 */
export function isNamed({ name, kind, folder, script }: Task, wanted: string): boolean {
  if (wanted === `${kind}s` || wanted === name) return true;
  if (kind === "check") return script === wanted;
  return folder === wanted || folder.split("/").at(-1) === wanted;
}
