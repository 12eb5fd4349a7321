import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { attendTo, Home, openHomeProver, openHomeWallet, readConfig, readKeyFile } from "@sotto/cli-kit/home";
import { originCommands } from "@sotto/origins/cli";
import { quoted } from "@sotto/protocol";
import { type Wallet, WalletError } from "@sotto/wallet";
import { searchInBackground } from "./agent/background-search.ts";
import { SharedWallet } from "./agent/wallet-access.ts";
import { AgentError } from "./errors.ts";
import { assertToken, type HttpOptions, serveHttp } from "./http/serve.ts";
import { createServers } from "./server.ts";
import { VERSION } from "./version.ts";

const HELP = `sotto-mcp: an MCP server that pays for HTTP requests privately, from the wallet that \`sotto init\` made.

  sotto-mcp [options]            serves one client on standard input and output
  sotto-mcp --http PORT          serves clients at http://127.0.0.1:PORT/mcp

  --home DIR            the wallet's folder; default: SOTTO_HOME, else ~/.sotto
  --registry URL        phone registry; adds the tool pay_phone
  --private-networks    let the agent reach private networks and this machine (local chains always allow it)
  --http [HOST:]PORT    needs a token; default host: 127.0.0.1
  --token-file FILE     bearer token for --http, in a file that only its owner can read; or SOTTO_MCP_TOKEN
  --allow-host NAME     host name that HTTP requests may be sent to; may be given more than once
  --allow-origin ORIGIN origin of a web page that may call, besides the server's own; may be given more than once
  --version, --help

Limits are the wallet's, for every server that uses it: set them with
  sotto limits --max 0.10 --max-hour 0.50 --max-day 2 --max-host 1 --max-tool pay_phone=0.50 --approve-above 0.05
Logs go to standard error.
`;

const OPTIONS = {
  home: { type: "string" },
  registry: { type: "string" },
  "private-networks": { type: "boolean" },
  http: { type: "string" },
  "token-file": { type: "string" },
  "allow-host": { type: "string", multiple: true },
  "allow-origin": { type: "string", multiple: true },
  version: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const satisfies NonNullable<ParseArgsConfig["options"]>;

/** What attends to the wallet, as in the program `sotto`. */
const ATTENDS = [originCommands].flatMap(({ attend }) => attend ?? []);

/** How long the wallet stays open after a call, ms. The command line waits two seconds for it. */
const IDLE_MS = 1_000;
/** Maximum attempts to open a wallet that another program has open; each takes at least two seconds. */
const BUSY_TRIES = 5;
const BUSY_PAUSE_MS = 500;
/** Pause between two ranges of the search, in which the wallet is closed, and between two searches, ms. */
const [SEARCH_PAUSE_MS, SEARCH_EVERY_MS] = [5_000, 3_600_000];

export interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** Runs the program until its client disconnects or the signal aborts. @throws SottoError */
export async function run(args: readonly string[], { environment, signal }: RunOptions): Promise<void> {
  const values = parse(args);
  if (values.help === true) return void process.stdout.write(HELP);
  if (values.version === true) return void process.stdout.write(`${VERSION}\n`);
  const http = values.http === undefined ? undefined : httpOptions(values, values.http, environment);
  const home = new Home(values.home ?? (environment["SOTTO_HOME"] || join(homedir(), ".sotto")));
  const config = readConfig(home);
  // One for all openings of the wallet: its keys are prepared for the first payment only.
  const prover = await openHomeProver(home, config, { onCacheError: logError });
  const open = (opening: AbortSignal) => openHomeWallet(home, config, { environment, prover, signal: opening });
  const shared = new SharedWallet(
    (opening) => whenFree(open, opening),
    IDLE_MS,
    logError,
    (wallet) => attendTo(wallet, ATTENDS),
  );
  const { decimals, symbol, chainId, service } = config;
  const create = createServers({
    wallet: shared.use,
    token: { decimals, symbol },
    chainId,
    service,
    registry: values.registry,
    limits: () => readConfig(home).limits,
    privateNetworks: values["private-networks"],
    onError: logError,
  });
  const ending = new AbortController();
  let searching: Promise<void> | undefined;
  try {
    // Reports a wallet that cannot be opened now, not only at the first call.
    await shared.use(async () => undefined, signal);
    searching = searchInBackground({
      shared,
      signal: ending.signal,
      pauseMs: SEARCH_PAUSE_MS,
      everyMs: SEARCH_EVERY_MS,
      onFound: (count) => log(`found payments to addresses of other months: ${count}`),
      onError: logError,
    });
    if (http === undefined) await serveStdio(create, signal);
    else {
      const running = await serveHttp(create, http);
      log(`listening on ${running.url}`);
      await aborted(signal);
      await running.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ending.abort();
    await searching;
    await shared.close();
    await prover?.close();
  }
}

/** Opens the wallet; retries while another program has it open. @throws WalletError WALLET_BUSY */
async function whenFree(open: (signal: AbortSignal) => Promise<Wallet>, signal: AbortSignal): Promise<Wallet> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await open(signal);
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "WALLET_BUSY" || tries >= BUSY_TRIES) throw error;
      await sleep(BUSY_PAUSE_MS, undefined, { signal });
    }
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }).values;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split(". ")[0] : "wrong options";
    throw new AgentError("MCP_OPTION_INVALID", `${why}; see sotto-mcp --help`, {}, { cause });
  }
}

async function serveStdio(create: ReturnType<typeof createServers>, signal: AbortSignal): Promise<void> {
  const mcp = create();
  const closed = new Promise<void>((resolve) => {
    mcp.server.onclose = resolve;
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  await mcp.connect(new StdioServerTransport());
  await Promise.race([closed, aborted(signal)]);
  await mcp.close();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** @throws AgentError MCP_OPTION_INVALID; CliError KEY_FILE_UNSAFE */
function httpOptions(
  values: ReturnType<typeof parse>,
  place: string,
  environment: RunOptions["environment"],
): HttpOptions {
  const [, host, digits] = /^(?:(.+):)?([0-9]{1,5})$/.exec(place) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new AgentError("MCP_OPTION_INVALID", "--http must be PORT or HOST:PORT");
  return {
    host: host?.replace(/^\[(.*)\]$/, "$1"),
    port,
    token: assertToken(tokenOf(values["token-file"], environment)),
    allowedHosts: values["allow-host"],
    allowedOrigins: values["allow-origin"],
  };
}

/** @throws CliError KEY_FILE_UNSAFE; AgentError MCP_OPTION_INVALID */
function tokenOf(file: string | undefined, environment: RunOptions["environment"]): string | undefined {
  const given = environment["SOTTO_MCP_TOKEN"];
  if (file === undefined) return given === "" ? undefined : given;
  const text = readKeyFile(file);
  if (text === undefined) throw new AgentError("MCP_OPTION_INVALID", `the token file ${file} does not exist`);
  return text.trim();
}

const log = (line: string): void => void process.stderr.write(`sotto-mcp: ${line}\n`);

/** Logs an error's name and message, never a stack with arguments. */
function logError(error: unknown): void {
  log(
    error instanceof Error ? `${error.name}: ${quoted(error.message, 600)}` : "a value that is not an Error was thrown",
  );
}
