import { join } from "node:path";
import { CommandError, parseFlags, parsePort } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { type Ports, portsFrom } from "./ports.ts";

export const USAGE = `npm run dev -- [OPTIONS]: a local chain, the service, a curator, three resource
servers and the web app.

  --port N      the first of eight ports; default 4020
  --fresh       begin with a new chain, new wallets and new databases
  --traffic N   make N paid requests a second from built-in wallets, for example 0.3
  --no-open     do not open the browser
  --no-build    do not build before the start
  --state DIR   folder for all data that is kept; default .dev
`;

const DEFAULT_PORT = "4020";
/** Maximum paid requests a second: one prover cannot make more. */
const MAX_TRAFFIC = 10;

export interface DevOptions {
  readonly help: boolean;
  readonly ports: Ports;
  readonly fresh: boolean;
  readonly open: boolean;
  readonly build: boolean;
  /** Path of the state folder. */
  readonly state: string;
  /** Paid requests a second; 0 for none. */
  readonly traffic: number;
}

/** @throws CommandError UNKNOWN_OPTION, INVALID_PORT, INVALID_TRAFFIC */
export function parseDevOptions(args: string[]): DevOptions {
  const values = parseFlags("dev", args, {
    help: { type: "boolean", short: "h", default: false },
    port: { type: "string", default: DEFAULT_PORT },
    fresh: { type: "boolean", default: false },
    traffic: { type: "string" },
    state: { type: "string" },
    "no-open": { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false },
  });
  return {
    help: values.help,
    ports: portsFrom(parsePort(values.port)),
    fresh: values.fresh,
    open: !values["no-open"],
    build: !values["no-build"],
    state: values.state ?? join(root, ".dev"),
    traffic: values.traffic === undefined ? 0 : parseTraffic(values.traffic),
  };
}

function parseTraffic(text: string): number {
  const rate = /^\d{1,2}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(rate > 0 && rate <= MAX_TRAFFIC))
    throw new CommandError(
      "INVALID_TRAFFIC",
      `--traffic is "${text.slice(0, 20)}"; expected paid requests a second, more than 0 and at most ${MAX_TRAFFIC}`,
    );
  return rate;
}
