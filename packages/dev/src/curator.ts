// The settings of the curator that `npm run dev` runs. The program is the usual one.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildFolder, root } from "@sotto/keys/circuits/paths";
import type { CuratedSet } from "@sotto/local/demo/processes";
import { Wallet as Account } from "ethers";
import { type ChildProgram, cleanEnvironment } from "./processes.ts";
import type { State } from "./state.ts";

export interface CuratorOptions {
  readonly state: State;
  readonly port: number;
  /** JSON-RPC URL. */
  readonly chain: string;
  /** Shows a line. */
  readonly tell: (line: string) => void;
}

/** @returns the program; it is ready with its set */
export const curatorProgram = (options: CuratorOptions): ChildProgram<CuratedSet> => ({
  name: "curator",
  program: join(root, "packages", "origins", "dist", "curator", "main.js"),
  environment: { ...cleanEnvironment(), ...settings(options) },
  logFile: options.state.path("logs/curator.log"),
  ready: ({ line }) => {
    const [, curator, name, key] = /sotto curator at (\S+): set (\S+) of (0x\w{40}),/.exec(line ?? "") ?? [];
    return curator && name && key ? { curator, key, name } : undefined;
  },
  tell: options.tell,
});

function settings({ state, port, chain }: CuratorOptions): Record<string, string> {
  return {
    SOTTO_PORT: String(port),
    SOTTO_DEPLOYMENT: state.path("deployment.json"),
    SOTTO_RPC_URLS: chain,
    SOTTO_ARTIFACTS: buildFolder,
    SOTTO_ORIGIN_NAME: "dev",
    SOTTO_ORIGIN_KEY_FILE: kept(state, "curator-key", () => Account.createRandom().privateKey),
    SOTTO_ORIGIN_STORE: `sqlite:${state.path("curator.sqlite")}`,
    SOTTO_ORIGIN_FOLDER: state.path("origins"),
    SOTTO_ORIGIN_DENY_LIST: kept(
      state,
      "denied.txt",
      () => "# The curator refuses deposits of these accounts, one a line.",
    ),
    SOTTO_ORIGIN_LIST_SECONDS: "1",
    // A deposit is in the set soon, and traffic does not sign a head for each payment.
    SOTTO_ORIGIN_SLOT_SECONDS: "5",
    // All programs on this machine count as one client.
    SOTTO_RATE_LIMIT: "100000",
    SOTTO_VERIFY_WORKERS: "1",
  };
}

/** @returns the path of a file of the state folder, which is made at the first start */
function kept(state: State, name: string, content: () => string): string {
  const path = state.path(name);
  if (!existsSync(path)) writeFileSync(path, `${content()}\n`, { mode: 0o600 });
  return path;
}
