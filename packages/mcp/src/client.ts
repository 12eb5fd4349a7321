// Pays for the tools of MCP servers.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { type CallToolRequest, type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type PayingInit, type WrapOptions, wrapFetch } from "@sotto/client";
import { SottoError } from "@sotto/protocol";
import { X402_SCHEME, X402_VERSION, x402Network } from "@sotto/protocol/x402";
import type { Wallet } from "@sotto/wallet";
import { AgentError } from "./errors.ts";
import { canonicalJson, isCallOf } from "./paid/resource.ts";
import {
  instructionsOf,
  PAYMENT_KEY,
  type PaymentRequired,
  paymentRequiredOf,
  RESPONSE_KEY,
  RETRY_KEY,
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
      const first = await ask({});
      const required = paymentRequiredOf(first);
      const accepted = required && acceptedBy(required, wallet);
      if (required === undefined || accepted === undefined) return first;
      const call = new ToolCall(params.name, origin, accepted, ask, wallet.now());
      const asked = canonicalJson({ name: params.name, arguments: params.arguments ?? {} });
      let transaction = "";
      const pay = wrapFetch((_, init) => call.send(init), wallet, {
        serviceFetch: (input, init) => fetch(input, init),
        ...options,
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
      const { result = first } = call;
      // The wallet found this transaction on the chain; the server could name any.
      const settled = { success: true, transaction, network: x402Network(wallet.pool.chainId) };
      return { ...result, _meta: { ...result._meta, [RESPONSE_KEY]: settled } };
    },
  };
}

type Json = Readonly<Record<string, unknown>>;

/** The requirements that this wallet's scheme can meet. */
function acceptedBy({ x402Version, accepts }: PaymentRequired, { pool }: Wallet): Json | undefined {
  if (x402Version !== X402_VERSION) return undefined;
  const network = x402Network(pool.chainId);
  return accepts
    .map((one) => Object(one) as Json)
    .find((one) => one["scheme"] === X402_SCHEME && one["network"] === network);
}

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
    if (!isCallOf(this.resource, origin, name))
      throw new AgentError(
        "TOOL_CHALLENGE_INVALID",
        `the tool asks for a payment for something else than a call of it at ${origin}`,
      );
  }

  async send(init: RequestInit | undefined): Promise<Response> {
    const proof = new Headers(init?.headers).get("x-payment-proof");
    if (proof === null)
      return new Response(this.#challenge, { status: 402, headers: { "www-authenticate": "x402-zk" } });
    const payload: unknown = JSON.parse(proof);
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
