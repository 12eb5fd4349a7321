// Pays for the tools of MCP servers.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { type CallToolRequest, type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  type PayingInit,
  type PayingMethod,
  type PurchaseProgress,
  privatePayment,
  type WrapOptions,
  wrapFetch,
} from "@sotto/client";
import {
  credentialToMcp,
  encodeChallenge,
  MCP_CREDENTIAL_KEY,
  MCP_RECEIPT_KEY,
  type MppChallenge,
  parseCredential,
  paymentSchemes,
} from "@sotto/mpp";
import { mpp } from "@sotto/mpp/client";
import { SottoError } from "@sotto/protocol";
import { X402_SCHEME, X402_VERSION, x402Network } from "@sotto/protocol/x402";
import type { Wallet } from "@sotto/wallet";
import { AgentError } from "./errors.ts";
import { HEADERS_KEY, offersOf } from "./paid/method.ts";
import { chargeForCall, chargesOf } from "./paid/mpp.ts";
import { canonicalJson, isCallOf } from "./paid/resource.ts";
import {
  instructionsOf,
  PAYMENT_KEY,
  type PaymentRequired,
  paymentRequiredOf,
  RESPONSE_KEY,
  RETRY_KEY,
  SCHEDULE_KEY,
  toolUrl,
} from "./paid/x402.ts";

/** The options of `wrapFetch`: services, limits and confirmations. The host of the limits is that of `server`. */
export interface PayingClientOptions extends Omit<WrapOptions, "bodyLimit"> {
  /** The wallet that pays. The caller closes it. */
  readonly wallet: Wallet;
  /**
   * Origin of the MCP server, such as https://tools.example. Payments for another origin are refused, limits per host
   * count for it, and the wallet that receives its payments is pinned to it.
   */
  readonly server: string;
}

/** An MCP client that pays for tools. */
export interface PayingClient {
  /** Like `Client.callTool`. If the tool asks for a payment, pays it within the limits and returns the tool's result. */
  callTool(
    params: CallToolRequest["params"],
    options?: RequestOptions & Pick<NonNullable<PayingInit["sotto"]>, "key" | "onProgress">,
  ): Promise<CallToolResult>;
}

/**
 * Wraps a connected client of the MCP SDK so that it pays for paid tools. The payment survives crashes as purchases of
 * `wrapFetch` do: the next equal call (tool and arguments) resumes it. A tool that asks for payments of another scheme
 * or network is not paid, and its result is returned as it is.
 * @throws AgentError MCP_OPTION_INVALID; the errors of `wrapFetch`
 */
export function createPayingClient(client: Client, { wallet, server, ...options }: PayingClientOptions): PayingClient {
  const origin = URL.canParse(server) ? new URL(server).origin : "null";
  if (origin === "null" || origin !== server)
    throw new AgentError(
      "MCP_OPTION_INVALID",
      "server must be only a scheme and a host, such as https://tools.example",
    );
  const given = (options.methods ?? []).filter(({ name }) => name !== MPP.name).map(overHttp);
  const methods = [...given, MPP];
  // A proof in MPP's headers is a private payment; a tool call carries it under its own keys of `_meta`.
  const named = given.flatMap(({ headers }) => headers.filter((header) => typeof header === "string"));
  /** The call that the paying fetch pays for. */
  const running = new AsyncLocalStorage<Running>();
  const send: typeof fetch = async (_, init) => {
    const { call, first } = running.getStore()!;
    return init?.method === "POST" ? call.send(init) : published(first);
  };
  const pay = wrapFetch(send, wallet, { serviceFetch: (input, init) => fetch(input, init), ...options, methods });
  return {
    async callTool(params, { key, onProgress, ...requestOptions } = {}) {
      const ask = async (meta: Record<string, unknown>): Promise<CallToolResult> => {
        const request = { ...params, _meta: { ...params._meta, ...meta } };
        return (await client.callTool(request, CallToolResultSchema, requestOptions)) as CallToolResult;
      };
      const first = await ask({}).catch((error: unknown) => {
        if (chargesOf(error) === undefined) throw error;
        return error;
      });
      const call = callOf(first, { name: params.name, origin, ask, wallet, headers: named });
      if (call === undefined) return first as CallToolResult;
      const asked = canonicalJson({ name: params.name, arguments: params.arguments ?? {} });
      let transaction = "";
      const init = {
        method: "POST",
        body: asked,
        signal: requestOptions.signal ?? null,
        sotto: {
          key,
          // Excludes the resource: a server that names another one each time would otherwise be paid each time.
          request: `tool ${asked}`,
          onProgress: (progress: PurchaseProgress) => {
            transaction = progress.txSignature ?? transaction;
            (onProgress ?? options.onProgress)?.(progress);
          },
        },
      };
      await running.run({ call, first }, () => pay(call.resource, init));
      const { result = first as CallToolResult, isPaidByMethod } = call;
      const { [MCP_RECEIPT_KEY]: receipt, [RESPONSE_KEY]: _, ...meta } = result._meta ?? {};
      // No transaction of the chain belongs to this call.
      if (isPaidByMethod) return { ...result, _meta: meta };
      // The wallet found this transaction on the chain; the server could name any.
      const settled = { success: true, transaction, network: x402Network(wallet.pool.chainId) };
      const own = receipt !== undefined && fields(receipt)["reference"] === transaction;
      return { ...result, _meta: { ...meta, ...(own ? { [MCP_RECEIPT_KEY]: receipt } : {}), [RESPONSE_KEY]: settled } };
    },
  };
}

/** A call, and the answer to it before it was paid. */
interface Running {
  readonly call: ToolCall | MppToolCall;
  readonly first: unknown;
}

/** Opens a method so that its own requests, such as purchases of tokens, go to `server` over HTTP instead of through tool calls. */
function overHttp(method: PayingMethod): PayingMethod {
  if (method === privatePayment) return method;
  const { name, headers, asks, paysKeyed } = method;
  return { name, headers, asks, paysKeyed, open: (core) => method.open({ ...core, fetch: globalThis.fetch }) };
}

/** Presents proofs in MPP's format. It has no options, because a call of a tool has no headers. */
const MPP = mpp();

type Json = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Json => Object(value) as Json;

/** The schedule of addresses that the terms of a tool name: it comes with them, because the tool may have no web server. */
function published(first: unknown): Response {
  const schedule = fields(first instanceof Error ? fields(first)["data"] : fields(first)["_meta"])[SCHEDULE_KEY];
  return schedule === undefined ? new Response(null, { status: 404 }) : Response.json(schedule);
}

/** What a payment of a call needs. */
interface Calling {
  readonly name: string;
  readonly origin: string;
  readonly ask: (meta: Record<string, unknown>) => Promise<CallToolResult>;
  readonly wallet: Wallet;
  /** Names of the headers with which methods pay. */
  readonly headers: readonly string[];
}

/** The paid call that an answer asks for; undefined if it asks for none that this wallet can pay. */
function callOf(first: unknown, calling: Calling): ToolCall | MppToolCall | undefined {
  const charges = chargesOf(first);
  if (charges !== undefined) return new MppToolCall(calling, charges);
  const result = first as CallToolResult;
  const required = paymentRequiredOf(result);
  const accepted = required && acceptedBy(required, calling.wallet);
  return accepted && new ToolCall(calling, accepted, result._meta);
}

/** The requirements that this wallet's scheme can meet. */
function acceptedBy({ x402Version, accepts }: PaymentRequired, { pool }: Wallet): Json | undefined {
  if (x402Version !== X402_VERSION) return undefined;
  const network = x402Network(pool.chainId);
  return accepts
    .map((one) => Object(one) as Json)
    .find((one) => one["scheme"] === X402_SCHEME && one["network"] === network);
}

const otherCall = (origin: string): AgentError =>
  new AgentError(
    "TOOL_CHALLENGE_INVALID",
    `the tool asks for a payment for something else than a call of it at ${origin}`,
  );

/** A call of a paid tool, as the paying fetch sees it: a request that gets a 402 first, and then the tool's result. */
abstract class PaidCall {
  /** What is paid for. */
  abstract readonly resource: string;
  readonly #calling: Pick<Calling, "ask" | "headers">;
  /** The newest result. */
  result: CallToolResult | undefined;
  /** Whether the newest result was paid with the headers of a method. */
  isPaidByMethod = false;

  constructor(calling: Pick<Calling, "ask" | "headers">) {
    this.#calling = calling;
  }

  async send(init: RequestInit | undefined): Promise<Response> {
    const headers = new Headers(init?.headers);
    const shown = this.#calling.headers.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const meta = shown.length > 0 ? { [HEADERS_KEY]: Object.fromEntries(shown) } : this.paymentIn(shownIn(headers));
    if (meta === undefined) return this.demand();
    this.isPaidByMethod = shown.length > 0;
    try {
      const result = await this.#calling.ask(meta);
      this.result = result;
      const required = paymentRequiredOf(result);
      if (required !== undefined) {
        const error = String(required.error);
        return Response.json({ error }, { status: 402, headers: retryAfterIn(result._meta) });
      }
      // A tool that failed has released the payment.
      return new Response(null, { status: result.isError === true ? 500 : 200 });
    } catch (error) {
      const charges = chargesOf(error);
      if (charges === undefined) throw error;
      const { message, data } = error as { readonly message: string; readonly data?: unknown };
      return asked(charges, message, retryAfterIn(fields(data)));
    }
  }

  /** `_meta` with a private payment; undefined if none is shown. */
  protected abstract paymentIn(shown: Shown): Record<string, unknown> | undefined;
  /** The 402 of a request without a payment. */
  protected abstract demand(): Response;
}

function retryAfterIn(meta: Json | undefined): Record<string, string> {
  const after = meta?.[RETRY_KEY];
  return typeof after === "number" ? { "retry-after": String(after) } : {};
}

/** A call of a tool that asks in x402's format. */
class ToolCall extends PaidCall {
  readonly resource: string;
  readonly #accepted: Json;
  readonly #name: string;
  readonly #challenge: string;

  /** @throws AgentError TOOL_CHALLENGE_INVALID */
  constructor(calling: Calling, accepted: Json, meta: Json | undefined) {
    super(calling);
    const { name, origin, wallet } = calling;
    this.#name = name;
    this.#accepted = accepted;
    try {
      const instructions = instructionsOf(accepted, wallet.now());
      this.resource = instructions.metadata.resource;
      const payment = { ...offersOf(meta), ...instructions.payment };
      this.#challenge = JSON.stringify({ ...instructions, payment });
    } catch (cause) {
      if (!(cause instanceof SottoError)) throw cause;
      throw new AgentError("TOOL_CHALLENGE_INVALID", `the tool cannot be paid: ${cause.message}`, {}, { cause });
    }
    if (!isCallOf(this.resource, origin, name)) throw otherCall(origin);
  }

  protected override paymentIn({ payload }: Shown): Record<string, unknown> | undefined {
    if (payload === undefined) return undefined;
    const resource = { url: toolUrl(this.#name) };
    return { [PAYMENT_KEY]: { x402Version: X402_VERSION, resource, accepted: this.#accepted, payload } };
  }

  protected override demand(): Response {
    return new Response(this.#challenge, { status: 402, headers: { "www-authenticate": "x402-zk" } });
  }
}

/** A call of a tool that asks in MPP's format. */
class MppToolCall extends PaidCall {
  readonly resource: string;
  readonly #challenge: MppChallenge;

  /** @throws AgentError TOOL_CHALLENGE_INVALID */
  constructor(calling: Calling, charges: readonly MppChallenge[]) {
    super(calling);
    const { name, origin } = calling;
    const found = chargeForCall(charges, origin, name);
    if (found === undefined) throw otherCall(origin);
    this.resource = found.resource;
    this.#challenge = found.challenge;
  }

  protected override paymentIn({ payload, challenge = this.#challenge }: Shown): Record<string, unknown> | undefined {
    return payload && { [MCP_CREDENTIAL_KEY]: credentialToMcp({ challenge, payload }) };
  }

  protected override demand(): Response {
    return asked([this.#challenge], "");
  }
}

/** Where MPP's method puts the credential: a challenge may name the second. */
const CREDENTIAL_HEADERS = ["authorization", "payment-authorization"];

interface Shown {
  readonly payload?: Json;
  readonly challenge?: MppChallenge;
}

/**
 * The proof that the paying fetch shows, and the challenge that it answers in MPP's format. The format may differ from the one
 * in which the tool asks now, if the purchase was interrupted; the proof is the same in both.
 */
function shownIn(headers: Headers): Shown {
  const proof = headers.get("x-payment-proof");
  if (proof !== null) return { payload: JSON.parse(proof) as Json };
  const values = CREDENTIAL_HEADERS.flatMap((name) => headers.get(name) ?? []);
  const [token] = paymentSchemes(values).flatMap(({ rest }) => rest);
  return token === undefined ? {} : parseCredential(token);
}

const asked = (charges: readonly MppChallenge[], error: string, headers: Record<string, string> = {}): Response => {
  const authenticate = { "www-authenticate": charges.map(encodeChallenge).join(", ") };
  return Response.json({ error }, { status: 402, headers: { ...headers, ...authenticate } });
};
