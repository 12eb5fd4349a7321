// An empty project outside the checkout, into which a package manager installs the packages from the registry.
// Third-party packages come from the registry that the machine is configured with.
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "@sotto/keys/circuits/paths";
import type { Registry } from "../../../scripts/release/registry.ts";
import { nodeFolder } from "./nodes.ts";

export type Manager = "npm" | "pnpm" | "yarn" | "yarn with Plug'n'Play";

const YARN = join(dirname(fileURLToPath(import.meta.resolve("@yarnpkg/cli-dist/package.json"))), "bin", "yarn.js");
/** Third-party packages stay cached there between runs. */
const yarnFolder = join(root, ".release", "yarn");
const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** The version of a package that the checkout is tested with. */
export function tested(name: string): string {
  const version = devDependencies[name];
  if (version === undefined) throw new Error(`package.json of the checkout has no ${name}`);
  return version;
}

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Project {
  readonly folder: string;
  readonly #manager: Manager;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(manager: Manager, node: string) {
    this.folder = mkdtempSync(join(tmpdir(), "sotto-project-"));
    this.#manager = manager;
    this.#environment = {
      ...process.env,
      PATH: `${nodeFolder(node)}${delimiter}${process.env["PATH"]}`,
      // On a CI machine, the package manager would refuse to write a lockfile.
      CI: "",
      YARN_ENABLE_TELEMETRY: "0",
      YARN_GLOBAL_FOLDER: yarnFolder,
    };
  }

  /**
   * @param node the Node version for the package manager and all programs @param registry the registry of this project's packages
   * @param settings additional pnpm settings, for its pnpm-workspace.yaml
   */
  static async install(
    manager: Manager,
    node: string,
    { url }: Registry,
    dependencies: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, boolean>> = {},
  ): Promise<Project> {
    const project = new Project(manager, node);
    project.write("package.json", JSON.stringify({ private: true, type: "module", dependencies }));
    project.write(".npmrc", `@sotto:registry=${url}/\n`);
    if (manager === "npm")
      await project.run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
    else if (manager === "pnpm") {
      // A separate settings file, so that the folder is not treated as a member of another workspace.
      project.write("pnpm-workspace.yaml", `${JSON.stringify({ packages: [], ...settings })}\n`);
      await project.run("pnpm", "install", "--ignore-scripts", "--prefer-offline", "--reporter=silent");
    } else await project.#installWithYarn(url);
    return project;
  }

  /** yarn does not read npm's settings, so they are read from npm and passed to yarn. */
  async #installWithYarn(url: string): Promise<void> {
    const linker = this.#manager === "yarn" ? "node-modules" : "pnp";
    const proxies = { httpProxy: ["http_proxy", "HTTP_PROXY"], httpsProxy: ["https_proxy", "HTTPS_PROXY"] };
    const settings = {
      npmRegistryServer: (await this.run("npm", "config", "get", "registry")).trim(),
      npmScopes: { sotto: { npmRegistryServer: url } },
      unsafeHttpWhitelist: ["127.0.0.1"],
      nodeLinker: linker,
      enableScripts: false,
      enableImmutableInstalls: false,
      // Half of the default: proxies close connections if there are many.
      networkConcurrency: 25,
      ...Object.fromEntries(
        Object.entries(proxies).flatMap(([setting, names]) => {
          const value = names.map((name) => process.env[name]).find((text) => text);
          return value === undefined ? [] : [[setting, value]];
        }),
      ),
    };
    this.write(".yarnrc.yml", JSON.stringify(settings));
    // yarn caches a version and the URL of its tarball forever, but an unpublished version is packed again with other
    // contents, and each registry has another port.
    for (const path of globSync("{cache,metadata/**}/@sotto-*", { cwd: yarnFolder })) rmSync(join(yarnFolder, path));
    // Without a lockfile here, yarn would look for a project in the parent folders.
    this.write("yarn.lock", "");
    const install = () => this.run("node", YARN, "install");
    // yarn does not retry if a proxy closes a connection before it is established. What it fetched is in its cache.
    await install().catch(install);
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a command in the project. @returns its output @throws with its output if it fails */
  async run(command: string, ...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.#start(command, args);
    if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed (exit ${status}):\n${stdout}${stderr}`);
    return stdout;
  }

  /** Runs a program with the project's Node, as users of the package manager do. */
  node(...args: string[]): Promise<Result> {
    return this.#start("node", this.#manager === "yarn with Plug'n'Play" ? [YARN, "node", ...args] : args);
  }

  /** Asynchronous, because this process serves the packages. */
  #start(command: string, args: readonly string[]): Promise<Result> {
    const child = spawn(command, args, {
      cwd: this.folder,
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (status) => resolve({ status, stdout, stderr }));
    });
  }

  /** Type-checks files strictly, including the declarations of all packages. @returns tsc's errors */
  async complaints(files: readonly string[], options: Readonly<Record<string, unknown>>): Promise<string> {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      noEmit: true,
      ...options,
    };
    this.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
    const { stdout, stderr } = await this.node(join("node_modules", "typescript", "bin", "tsc"), "-p", ".");
    return `${stdout}${stderr}`;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
