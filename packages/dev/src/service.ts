// The settings of the service that `npm run dev` runs. The program is the usual one.
import { join } from "node:path";
import { buildFolder, root } from "@sotto/keys/circuits/paths";
import type { CuratedSet } from "@sotto/local/demo/processes";
import { type ChildProgram, cleanEnvironment } from "./processes.ts";
import type { State } from "./state.ts";

/** The second of Hardhat's public accounts. The first one deploys and is the faucet's. */
const RELAYER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
/** With traffic, appends are less frequent, so that one proof moves more notes into the tree. */
const APPEND_AFTER_MS = 3_000;

export interface ServiceOptions {
  readonly state: State;
  readonly port: number;
  /** JSON-RPC URL. */
  readonly chain: string;
  /** The curator's set, whose heads the service mirrors. */
  readonly set: CuratedSet;
  readonly hasTraffic: boolean;
  /** Shows a line. */
  readonly tell: (line: string) => void;
}

/** @returns the program; it is ready with its base URL */
export const serviceProgram = (options: ServiceOptions): ChildProgram<string> => ({
  name: "service",
  program: join(root, "packages", "service", "dist", "main.js"),
  environment: { ...cleanEnvironment(), ...settings(options) },
  logFile: options.state.path("logs/service.log"),
  ready: ({ line }) => /sotto service at (\S+):/.exec(line ?? "")?.[1],
  onSaid: ({ line }) => {
    const code = /a code \(development only\): (\{.*\})/.exec(line ?? "")?.[1];
    if (code !== undefined) options.tell(codeLine(code));
  },
  tell: options.tell,
});

/** @param json a line from the registry's development sender */
function codeLine(json: string): string {
  const { phoneNumber, code, walletAddress } = JSON.parse(json) as Record<string, string>;
  return `code ${code} for ${phoneNumber}, to link it to ${walletAddress?.slice(0, 10)}..`;
}

function settings({ state, port, chain, set, hasTraffic }: ServiceOptions): Record<string, string> {
  return {
    SOTTO_PORT: String(port),
    SOTTO_DEPLOYMENT: state.path("deployment.json"),
    SOTTO_RPC_URLS: chain,
    SOTTO_RELAYER_KEY: RELAYER_KEY,
    SOTTO_ARTIFACTS: buildFolder,
    SOTTO_STORE: `sqlite:${state.path("service.sqlite")}`,
    SOTTO_TOKEN_KEYS: state.path("token-keys"),
    // All programs on this machine count as one client, and gas costs nothing here.
    SOTTO_RATE_LIMIT: "100000",
    SOTTO_GAS_BUDGET: String(1_000n * 10n ** 18n),
    SOTTO_CLIENT_QUOTA: "1000000",
    SOTTO_SPONSOR_QUOTA: "1000000",
    SOTTO_RECIPIENT_QUOTA: "1000000",
    SOTTO_QUOTAS_BEYOND_BUDGET: "allow",
    SOTTO_APPEND_AFTER_MS: hasTraffic ? String(APPEND_AFTER_MS) : "0",
    SOTTO_VERIFY_WORKERS: "1",
    // With an empty list of recipients, it only mirrors the heads.
    SOTTO_ORIGINS: JSON.stringify([{ ...set, recipients: [] }]),
    SOTTO_PHONE_REGISTRY: "on",
    SOTTO_PHONE_STORE: `sqlite:${state.path("phone.sqlite")}`,
    SOTTO_PHONE_KEYS: state.path("phone-keys.json"),
    SOTTO_PHONE_SENDER: "log",
  };
}
