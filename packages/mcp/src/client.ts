// Pays for the tools of MCP servers.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { type CallToolRequest, type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type PayingInit, type WrapOptions, wrapFetch } from "@sotto/client";
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
      const call = callOf(first, { name: params.name, origin, ask, wallet });
      if (call === undefined) return first as CallToolResult;
      const asked = canonicalJson({ name: params.name, arguments: params.arguments ?? {} });
      let transaction = "";
      const send: typeof fetch = async (_, init) => (init?.method === "POST" ? call.send(init) : published(first));
      const pay = wrapFetch(send, wallet, {
        serviceFetch: (input, init) => fetch(input, init),
        ...options,
        methods: [...(options.methods ?? []).filter(({ name }) => name !== MPP.name), MPP],
      });
      await pay(call.resource, {
        method: "POST",
        body: asked,
        signal: requestOptions.signal ?? null,
        sotto: {
          key,
          // Excludes the resource: a server that names another one each time would otherwise be paid each time.
          request: `tool ${asked}`,
          onProgress: (progress) => {
            transaction = progress.txSignature ?? transaction;
            (onProgress ?? options.onProgress)?.(progress);
          },
        },
      });
      const { result = first as CallToolResult } = call;
      // The wallet found this transaction on the chain; the server could name any.
      const settled = { success: true, transaction, network: x402Network(wallet.pool.chainId) };
      const { [MCP_RECEIPT_KEY]: receipt, ...meta } = result._meta ?? {};
      const own = receipt !== undefined && fields(receipt)["reference"] === transaction;
      return { ...result, _meta: { ...meta, ...(own ? { [MCP_RECEIPT_KEY]: receipt } : {}), [RESPONSE_KEY]: settled } };
    },
  };
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
}

/** The paid call that an answer asks for; undefined if it asks for none that this wallet can pay. */
function callOf(first: unknown, { name, origin, ask, wallet }: Calling): ToolCall | MppToolCall | undefined {
  const charges = chargesOf(first);
  if (charges !== undefined) return new MppToolCall(name, origin, charges, ask);
  const required = paymentRequiredOf(first as CallToolResult);
  const accepted = required && acceptedBy(required, wallet);
  return accepted && new ToolCall(name, origin, accepted, ask, wallet.now());
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
class ToolCall {
  /** What is paid for. */
  readonly resource: string;
  readonly #accepted: Json;
  readonly #name: string;
  readonly #challenge: string;
  readonly #ask: (meta: Record<string, unknown>) => Promise<CallToolResult>;
  /** The newest result. */
  result: CallToolResult | undefined;

  /** @throws AgentError TOOL_CHALLENGE_INVALID */
  constructor(
    name: string,
    origin: string,
    accepted: Json,
    ask: (meta: Record<string, unknown>) => Promise<CallToolResult>,
    now: number,
  ) {
    this.#name = name;
    this.#accepted = accepted;
    this.#ask = ask;
    try {
      const instructions = instructionsOf(accepted, now);
      this.resource = instructions.metadata.resource;
      this.#challenge = JSON.stringify(instructions);
    } catch (cause) {
      if (!(cause instanceof SottoError)) throw cause;
      throw new AgentError("TOOL_CHALLENGE_INVALID", `the tool cannot be paid: ${cause.message}`, {}, { cause });
    }
    if (!isCallOf(this.resource, origin, name)) throw otherCall(origin);
  }

  async send(init: RequestInit | undefined): Promise<Response> {
    const { payload } = shownIn(init);
    if (payload === undefined)
      return new Response(this.#challenge, { status: 402, headers: { "www-authenticate": "x402-zk" } });
    const payment = {
      x402Version: X402_VERSION,
      resource: { url: toolUrl(this.#name) },
      accepted: this.#accepted,
      payload,
    };
    const result = await this.#ask({ [PAYMENT_KEY]: payment });
    this.result = result;
    const required = paymentRequiredOf(result);
    if (required !== undefined) {
      const after = result._meta?.[RETRY_KEY];
      const headers: Record<string, string> = typeof after === "number" ? { "retry-after": String(after) } : {};
      return Response.json({ error: String(required.error) }, { status: 402, headers });
    }
    // A tool that failed has released the payment.
    return new Response(null, { status: result.isError === true ? 500 : 200 });
  }
}

/** A call of a tool that asks in MPP's format. */
class MppToolCall {
  /** What is paid for. */
  readonly resource: string;
  readonly #challenge: MppChallenge;
  readonly #ask: Calling["ask"];
  /** The newest result. */
  result: CallToolResult | undefined;

  /** @throws AgentError TOOL_CHALLENGE_INVALID */
  constructor(name: string, origin: string, charges: readonly MppChallenge[], ask: Calling["ask"]) {
    const found = chargeForCall(charges, origin, name);
    if (found === undefined) throw otherCall(origin);
    this.resource = found.resource;
    this.#challenge = found.challenge;
    this.#ask = ask;
  }

  async send(init: RequestInit | undefined): Promise<Response> {
    const { payload, challenge = this.#challenge } = shownIn(init);
    if (payload === undefined) return asked([this.#challenge], "");
    try {
      const result = await this.#ask({ [MCP_CREDENTIAL_KEY]: credentialToMcp({ challenge, payload }) });
      this.result = result;
      // A tool that failed has released the payment.
      return new Response(null, { status: result.isError === true ? 500 : 200 });
    } catch (error) {
      const charges = chargesOf(error);
      if (charges === undefined) throw error;
      const { message, data } = error as { readonly message: string; readonly data?: unknown };
      const after = fields(data)[RETRY_KEY];
      return asked(charges, message, typeof after === "number" ? { "retry-after": String(after) } : {});
    }
  }
}

/** Where MPP's method puts the credential: a challenge may name the second. */
const CREDENTIAL_HEADERS = ["authorization", "payment-authorization"];

/**
 * The proof that the paying fetch shows, and the challenge that it answers in MPP's format. The format may differ from the one
 * in which the tool asks now, if the purchase was interrupted; the proof is the same in both.
 */
function shownIn(init: RequestInit | undefined): { readonly payload?: Json; readonly challenge?: MppChallenge } {
  const headers = new Headers(init?.headers);
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
