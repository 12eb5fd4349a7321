import { inTokens } from "@sotto/cli-kit/home";
import { baseUrl, LOCAL_CHAIN_IDS, quoted, SottoError } from "@sotto/protocol";
import { type Wallet, WalletError } from "@sotto/wallet";
import { AgentError } from "../errors.ts";
import { publicFetch, separateFetch } from "../network/guard.ts";
import { type AgentLimits, type GivenLimits, limitsOf, raisedWith } from "./limits.ts";
import type { Token } from "./token.ts";
import type { WalletAccess } from "./wallet-access.ts";

/** The agent's wallet, and what the agent may do with it. */
export interface AgentOptions {
  /** The wallet, which then shows nothing beside its payments, or a function that opens it for each use. */
  readonly wallet: Wallet | WalletAccess;
  /** The pool's token: its decimals, and its symbol for texts. */
  readonly token: Token;
  /** EIP-155 id of the wallet's chain. On a local chain, private networks are allowed. */
  readonly chainId: bigint;
  /** Base URL of the service that may see payments. Without one the agent cannot pay. */
  readonly service?: string | undefined;
  /** Base URL of a phone registry. Default: none, and there is no tool `pay_phone`. */
  readonly registry?: string | undefined;
  /**
   * Default: 0.1 tokens per request, 1 per host and day, 2 per day; a person approves above 0.05; no limit per hour or
   * tool. A function is called for each tool call, so that the owner can change the limits while the server runs.
   */
  readonly limits?: GivenLimits | (() => GivenLimits) | undefined;
  /** Lets the agent reach addresses of private networks and this machine. Default: only on a local chain. */
  readonly privateNetworks?: boolean | undefined;
  /** Maximum bytes of a response's body that a result contains. Default: 262,144. */
  readonly responseLimit?: number | undefined;
  /** How long to wait for a person's approval, ms. Default: 300,000. */
  readonly approvalMs?: number | undefined;
  /** Called with unexpected errors, for the operator's log. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The checked options, shared by all sessions of a server. */
export interface Agent {
  readonly use: WalletAccess;
  readonly token: Token;
  readonly chainId: bigint;
  readonly service: string | undefined;
  readonly registry: string | undefined;
  /** The limits at this moment. @throws SottoError INVALID_AMOUNT; what the owner's function throws */
  readonly limits: AgentLimits;
  /** The fetch for URLs that the agent names. */
  readonly send: typeof fetch;
  /** The fetch for requests of prepaid tokens, which merchants must not link to others. */
  readonly sendSeparately: typeof fetch;
  readonly privateNetworks: boolean;
  readonly responseLimit: number;
  readonly approvalMs: number;
  readonly onError: (error: unknown) => void;
}

const RESPONSE_LIMIT = 256 * 1024;
const MAX_RESPONSE_LIMIT = 16 * 1024 * 1024;
const APPROVAL_MS = 300_000;

const unguarded: typeof fetch = (input, init) => fetch(input, init);

const isSize = (value: number, max: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= max;

/** @throws AgentError MCP_OPTION_INVALID; SottoError INVALID_AMOUNT */
export function parseAgent(options: AgentOptions): Agent {
  const wrong = (message: string) => new AgentError("MCP_OPTION_INVALID", message);
  const { wallet, token, chainId, service, registry, limits = {}, onError = () => undefined } = options;
  const { responseLimit = RESPONSE_LIMIT, approvalMs = APPROVAL_MS } = options;
  if (typeof chainId !== "bigint") throw wrong("chainId must be a bigint, the id of the wallet's chain");
  if (!isSize(responseLimit, MAX_RESPONSE_LIMIT)) throw wrong(`responseLimit must be 1 to ${MAX_RESPONSE_LIMIT} bytes`);
  if (!isSize(approvalMs, 3_600_000)) throw wrong("approvalMs must be 1 to 3,600,000 ms");
  const urlOf = (name: string, value: string | undefined) => {
    const url = value === undefined ? undefined : baseUrl(value);
    if (value !== undefined && url === undefined) throw wrong(`${name} must be an http or https base URL`);
    return url;
  };
  const local = LOCAL_CHAIN_IDS.includes(chainId);
  const privateNetworks = options.privateNetworks ?? local;
  const currentLimits = () => limitsOf(typeof limits === "function" ? limits() : limits, token);
  currentLimits();
  return {
    use: typeof wallet === "function" ? wallet : (action) => action(wallet, async () => []),
    token,
    chainId,
    service: urlOf("service", service),
    registry: urlOf("registry", registry),
    get limits() {
      return currentLimits();
    },
    send: privateNetworks ? unguarded : publicFetch(),
    sendSeparately: privateNetworks ? unguarded : separateFetch(),
    privateNetworks,
    responseLimit,
    approvalMs,
    onError,
  };
}

/** @throws AgentError SERVICE_MISSING */
export function serviceOf({ service }: Agent): string {
  if (service !== undefined) return service;
  throw new AgentError(
    "SERVICE_MISSING",
    "the wallet has no service, so it cannot pay; set one with `sotto init --update`",
  );
}

/** An error as a tool reports it. It holds no secret: unexpected errors are only logged. */
export interface Reported {
  readonly code: string;
  readonly message: string;
}

const MAX_MESSAGE = 2_000;
/** Maximum characters of a text of another party in a message. */
const MAX_FOREIGN = 300;

/** A text of another party, quoted and marked so that it cannot pass for ours. */
export const marked = (text: string): string => `untrusted text of the server: ${JSON.stringify(text)}`;

export function reported(error: unknown, agent: Agent): Reported {
  if (error instanceof SottoError) {
    const busy = error instanceof WalletError && error.code === "WALLET_BUSY";
    const parts = busy ? ["another program is using this wallet; try again in a moment"] : error.parts;
    const shown = parts.map((part) =>
      typeof part === "string" ? inTokens(part, agent.token) : marked(quoted(part.foreign, MAX_FOREIGN)),
    );
    const option = raisedWith(error);
    if (option !== undefined)
      shown.push(`; only the wallet's owner can raise the limit, with \`sotto limits ${option}\``);
    return { code: error.code, message: quoted(shown.join(""), MAX_MESSAGE) };
  }
  agent.onError(error);
  return { code: "UNEXPECTED", message: "the call failed for an unexpected reason, which is in the server's log" };
}
