// The tasks of turbo.json that `npm test` runs: those that test or check something.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

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
/** The suites that take about fifty seconds or more, the longest first. */
export const LONGEST = [
  "test/templates",
  "test/web",
  "test/client",
  "test/resource-server",
  "test/relayer",
  "test/verifier-service",
  "scripts 3",
  "test/mcp",
  "test/addons",
  "packages/prepaid",
  "test/cli",
  "test/client 2",
  "test/contracts",
  "test/networks 2",
  "test/networks",
  "test/x402",
  "test/phone-registry",
  "test/e2e",
  "test/nodes",
  "circuits",
  "test/fuzz",
  "test/dev",
  "packages/keys",
  "test/e2e 2",
  "test/mpp",
  "packages/verifier-service",
  "test/release",
  "packages/wallet",
  "test/verifier-service 2",
];
const isCheck = (script: string) => script === "types" || script.startsWith("check:");

function toTask({ taskId, task, directory }: Pick<TurboTask, "taskId" | "task" | "directory">): Task {
  const base = { id: taskId, folder: directory, script: task };
  if (task === "types") return { ...base, kind: "check", name: `types of ${directory.replace("packages/", "")}` };
  if (isCheck(task)) return { ...base, kind: "check", name: task.slice("check:".length) };
  return { ...base, kind: "suite", name: `${directory}${task.replace(/^test:?/, " ").trimEnd()}` };
}

/** The checks of the whole checkout: the tasks of turbo.json that belong to the root. */
function rootChecks(root: string): string[] {
  const { tasks } = JSON.parse(readFileSync(join(root, "turbo.json"), "utf8")) as { tasks: object };
  return Object.keys(tasks)
    .map((name) => name.replace("//#", ""))
    .filter((name) => name.startsWith("check:"));
}

/** The folders of the workspace's packages, from the root of the checkout. */
function packageFolders(root: string): string[] {
  const text = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const [list = ""] = /^packages:\n(?: +- .*\n)+/m.exec(text) ?? [];
  const patterns = [...list.matchAll(/- (.*)\n/g)].map(([, folders]) => `${folders}/package.json`);
  return globSync(patterns, { cwd: root }).map((path) => dirname(path).replaceAll("\\", "/"));
}

/**
 * All tasks of testing and checking, including builds. turbo hashes the inputs of each task, which takes seconds.
 * @param filters further options of turbo
 */
export function planOf(root: string, filters: readonly string[] = []): TurboTask[] {
  const args = ["run", ...SUITES, "types", ...rootChecks(root), "--dry=json", ...filters];
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const { status, stdout, stderr } = spawnSync("turbo", args, options);
  if (status !== 0) throw new Error(`turbo could not list the tasks (exit ${status}):\n${stdout}${stderr}`);
  return (JSON.parse(stdout) as { tasks: TurboTask[] }).tasks;
}

/** Reads the scripts of all packages, because turbo would hash the whole checkout to list the same tasks. */
export function listTasks(root: string): Task[] {
  const checks = rootChecks(root).map((task) => ({ taskId: `//#${task}`, task, directory: "" }));
  const others = packageFolders(root).flatMap((directory) => {
    const manifest = readFileSync(join(root, directory, "package.json"), "utf8");
    const { name, scripts = {} } = JSON.parse(manifest) as { name: string; scripts?: Record<string, string> };
    return Object.keys(scripts)
      .filter((task) => SUITES.includes(task) || isCheck(task))
      .map((task) => ({ taskId: `${name}#${task}`, task, directory }));
  });
  return [...checks, ...others].sort((a, b) => (a.taskId < b.taskId ? -1 : 1)).map(toTask);
}

/** The packages that differ from the branch main or depend on one that does, and the checks of the whole checkout. */
export function listAffected(root: string): Task[] {
  const affected = new Set(planOf(root, ["--affected"]).map(({ taskId }) => taskId));
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
