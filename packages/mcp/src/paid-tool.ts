// Turns a tool of any MCP server into a paid tool. A payment is bound to the server, the tool and its arguments, is
// checked by the resource server's paywall, and runs the handler once.
import { AsyncLocalStorage } from "node:async_hooks";
import type { McpServer, RegisteredTool } from "@modelcontextprotocol/sdk/server/mcp.js";
import type {
  AnySchema,
  SchemaOutput,
  ShapeOutput,
  ZodRawShapeCompat,
} from "@modelcontextprotocol/sdk/server/zod-compat.js";
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import { MCP_CREDENTIAL_KEY, type MppProblem } from "@sotto/mpp";
import { type Challenges, createChallenges, type MppOptions } from "@sotto/mpp/server";
import { encodeProofHeader, MAX_PROOF_HEADER_LENGTH, parsePayment, SottoError } from "@sotto/protocol";
import { X402_SCHEME, X402_VERSION, x402Network } from "@sotto/protocol/x402";
import {
  createEndReport,
  createPaywall,
  type Decision,
  isPaymentRequired,
  type Payment,
  type PaymentMethod,
  type Paywall,
  type PaywallCore,
  type PaywallOptions,
  type Price,
  type Quote,
  reportUnstarted,
} from "@sotto/resource-server";
import { SottoService } from "@sotto/wallet";
import type { Extra } from "./agent/approval.ts";
import { AgentError } from "./errors.ts";
import {
  HEADERS_KEY,
  offersIn,
  type PaymentHeaders,
  parseHeaders,
  RESPONSE_HEADERS_KEY,
  withoutPayment,
} from "./paid/method.ts";
import { paymentError, proofOf, receiptMeta } from "./paid/mpp.ts";
import { isToolName, pathOf, targetOf } from "./paid/resource.ts";
import { type Asked, askedBy, PAYMENT_KEY, paymentRequired, RESPONSE_KEY } from "./paid/x402.ts";
import { strictArguments } from "./strict-arguments.ts";

/** The options of a paywall that do not depend on HTTP or on a single tool. */
export interface ToolPaywallOptions extends Omit<PaywallOptions, "price" | "routes" | "free" | "page" | "cors"> {
  /**
   * Asks for payments in MPP's format: a call without a payment gets the error -32042 instead of x402's result. Payments of
   * both formats are accepted. It has no place for the offers of `methods`, so only one of both options can be set. Default:
   * x402's format.
   */
  readonly mpp?: MppOptions | undefined;
}

/**
 * A paywall for tools. Several tools and servers of one recipient can share it. It is also a paywall for the adapters of
 * @sotto/resource-server, which answers its `paths` on the HTTP server of `origin` and lets all other requests pass. Payment methods
 * need them: payers buy tokens and claim change there.
 */
export interface ToolPaywall extends Pick<Paywall, "decide" | "ready" | "close" | "removedHeaders" | "paths"> {}

/** A price of a tool: whole tokens as decimal text, base units as a bigint, or a quote of a method, such as `metered(..)`. */
export type ToolPrice = Price | Quote;

class Tools implements ToolPaywall {
  readonly #paywall: Paywall;
  readonly #core: PaywallCore;
  readonly #options: ToolPaywallOptions;
  readonly #service: SottoService;
  /** Undefined without MPP. */
  readonly challenges: Challenges | undefined;
  /** Names of the request headers that the methods read, in lower case. */
  readonly headers: ReadonlySet<string>;

  /** The price of the call on which the paywall decides. Requests over HTTP have none. */
  readonly #price: AsyncLocalStorage<ToolPrice>;

  constructor(
    paywall: Paywall,
    core: PaywallCore,
    options: ToolPaywallOptions,
    {
      price,
      challenges,
    }: { readonly price: AsyncLocalStorage<ToolPrice>; readonly challenges: Challenges | undefined },
  ) {
    this.#paywall = paywall;
    this.#core = core;
    this.#options = options;
    this.#price = price;
    this.challenges = challenges;
    const { methods = [] } = options;
    this.headers = new Set(methods.flatMap(({ headers = [] }) => headers.map(({ name }) => name.toLowerCase())));
    this.#service = new SottoService(options.service, { chainId: BigInt(options.chain.chainId) });
  }

  get ready(): Promise<void> {
    return this.#paywall.ready;
  }

  get removedHeaders(): Paywall["removedHeaders"] {
    return this.#paywall.removedHeaders;
  }

  get paths(): Paywall["paths"] {
    return this.#paywall.paths;
  }

  close(): Promise<void> {
    return this.#paywall.close();
  }

  decide(request: Parameters<Paywall["decide"]>[0]): Promise<Decision> {
    return this.#paywall.decide(request);
  }

  /** Decides on a call. */
  decideCall(target: string, price: ToolPrice, headers: PaymentHeaders = new Map()): Promise<Decision> {
    const header = (name: string): readonly string[] => {
      const value = headers.get(name);
      return value === undefined ? [] : [value];
    };
    return this.#price.run(price, () => this.#paywall.decide({ method: "POST", target, header }));
  }

  /** Checks the price of a tool, if it does not depend on the arguments. @throws the errors of the methods */
  assertPrice(name: string, price: ToolPrice): void {
    if (typeof price !== "object") return;
    const route = { method: "POST", path: pathOf(name) };
    this.#core.assertQuote({ name: `the price of the tool ${name}`, route, quote: price });
  }

  /**
   * The proof header for a payload. A payer that settled the payment itself sends its token and transaction. Otherwise
   * the service settles the payment now; a repeated request for that has the same outcome. The paywall checks the
   * proofs first, so that a caller cannot make this server flood the service.
   * @returns undefined if the payload does not pay for this call; "unavailable" if the paywall cannot check it now
   * @throws ServiceClientError
   */
  async proofOf(payment: unknown, target: string, signal: AbortSignal): Promise<string | "unavailable" | undefined> {
    const { x402Version, accepted, payload } = fields(payment);
    const { scheme, network } = fields(accepted);
    const { chain, origin } = this.#options;
    const expected = x402Network(BigInt(chain.chainId));
    if (x402Version !== X402_VERSION || scheme !== X402_SCHEME || network !== expected) return undefined;
    const { paymentToken, txSignature } = fields(payload);
    if (paymentToken !== undefined && txSignature !== undefined) {
      const text = JSON.stringify(payload);
      return text.length <= MAX_PROOF_HEADER_LENGTH ? text : undefined;
    }
    const received = parsePayment(payload);
    const bundle = received.wire;
    // Otherwise the payment would be settled and then refused.
    if (bundle.resourceUrl !== `${origin}${target}`) return undefined;
    if (bundle.recipientPublicKey !== this.#core.wallet) return undefined;
    const checked = await this.#core.verifyProofs(received);
    if (checked !== "valid") return checked === "invalid" ? undefined : checked;
    const verified = await this.#service.verify(bundle, { signal });
    const settled = await this.#service.settle(bundle, verified.paymentToken, { signal });
    const { paymentToken: token } = verified;
    return encodeProofHeader({ bundle, paymentToken: token, txSignature: settled.txSignature as `0x${string}` });
  }

  now(): number {
    return this.#core.clock();
  }

  /** What a tool asks for with this 402. */
  asked(name: string, description: string | undefined, body: object): Asked {
    return askedBy({ name, description, schedule: this.#core.schedule }, body);
  }

  get network(): string {
    return x402Network(BigInt(this.#options.chain.chainId));
  }
}

const fields = (value: unknown): Readonly<Record<string, unknown>> => Object(value) as Record<string, unknown>;

/**
 * Opens a paywall for the tools of an MCP server. `origin` names the server, even one that runs over stdio: payments
 * are bound to it, and clients pay only the origin they expect.
 * @throws AgentError MCP_OPTION_INVALID; the errors of `createPaywall`
 */
export async function createToolPaywall(options: ToolPaywallOptions): Promise<ToolPaywall> {
  const own = ["price", "routes", "free", "page", "cors"].find((name) => Object.hasOwn(Object(options), name));
  if (own !== undefined) throw new AgentError("MCP_OPTION_INVALID", `a paywall for tools has no option ${own}`);
  const { mpp, methods = [], ...rest } = options;
  if (!Array.isArray(methods)) throw new AgentError("MCP_OPTION_INVALID", "methods must be a list of payment methods");
  if (mpp !== undefined && methods.length > 0)
    throw new AgentError(
      "MCP_OPTION_INVALID",
      "set either mpp or methods: MPP's error has no place for the offers of methods",
    );
  const price = new AsyncLocalStorage<ToolPrice>();
  let core: PaywallCore | undefined;
  let challenges: Challenges | undefined;
  // A call contains its payment in its metadata, so the tools check it themselves.
  const tools: PaymentMethod = {
    name: "tools",
    open: (opened) => {
      core = opened;
      challenges = mpp === undefined ? undefined : createChallenges(mpp, opened);
      return {};
    },
  };
  const paywall = await createPaywall({
    ...rest,
    free: [],
    price: () => price.getStore() ?? "free",
    methods: [...methods, tools],
  });
  return new Tools(paywall, core!, options, { price, challenges });
}

type Input = undefined | ZodRawShapeCompat | AnySchema;
type Parsed<In extends Input> = In extends ZodRawShapeCompat
  ? ShapeOutput<In>
  : In extends AnySchema
    ? SchemaOutput<In>
    : Record<string, never>;

/** A paid tool: its price, and everything that an unpaid tool declares. */
export interface PaidToolConfig<In extends Input> {
  /** The paywall that checks the payments, from `createToolPaywall`. */
  readonly paywall: ToolPaywall;
  /** A price, or a function of the arguments. */
  readonly price: ToolPrice | ((args: Parsed<In>) => ToolPrice | "free" | Promise<ToolPrice | "free">);
  /** The tool's name for people. */
  readonly title?: string;
  /** What the tool does, for the model. */
  readonly description?: string;
  /**
   * Schema of the arguments: a zod object or its shape. Default: the tool takes none. A call with an argument that the
   * schema does not have is refused, unless the schema accepts others (`z.looseObject`, `catchall`). Null counts as absent.
   */
  readonly inputSchema?: In;
  /** Schema of the structured content. Default: none. */
  readonly outputSchema?: ZodRawShapeCompat | AnySchema;
  /** Hints of MCP, such as `readOnlyHint`. */
  readonly annotations?: ToolAnnotations;
}

/** Runs a paid tool. @param payment what paid for the call; undefined if the price function returned "free" */
export type PaidToolHandler<In extends Input> = (
  args: Parsed<In>,
  extra: Extra,
  payment: Payment | undefined,
) => CallToolResult | Promise<CallToolResult>;

/**
 * Registers a paid tool. A call without a payment gets x402's PaymentRequired, or the error of MPP; a call with one runs the
 * handler, once. A handler that throws, returns `isError` or is cancelled releases the payment, three times in total, as a
 * paywall's handler does; with metered credit it is charged nothing, unless it called `payment.meter.keep()` or was cancelled.
 * @throws AgentError MCP_OPTION_INVALID; PaywallError INVALID_OPTION for a metered price without signed terms or keys
 */
export function paidTool<In extends Input = undefined>(
  server: McpServer,
  name: string,
  config: PaidToolConfig<In>,
  handler: PaidToolHandler<In>,
): RegisteredTool {
  const { paywall: tools, price, description, inputSchema, outputSchema } = config;
  if (!isToolName(name))
    throw new AgentError("MCP_OPTION_INVALID", "a paid tool's name has 1 to 128 letters, digits, _, - and .");
  if (!(tools instanceof Tools))
    throw new AgentError("MCP_OPTION_INVALID", "paywall must be the result of createToolPaywall");
  if (typeof price !== "function") tools.assertPrice(name, price);
  const structured = outputSchema === undefined;
  const run = async (args: Parsed<In>, call: Extra): Promise<CallToolResult> => {
    const shown = call._meta?.[HEADERS_KEY];
    const extra = withoutPayment(call);
    const asked = typeof price === "function" ? await price(args) : price;
    if (asked === "free") return handler(args, extra, undefined);
    const target = targetOf(name, args);
    const handle = (payment: Payment) => handler(args, extra, payment);
    const challenge = async (error: string, options: { refused: boolean; retryAfter?: number | undefined }) => {
      const decision = await tools.decideCall(target, asked);
      if (!isPaymentRequired(decision)) return unavailable();
      const required = tools.asked(name, description, decision.body);
      const { challenges } = tools;
      if (challenges === undefined)
        return paymentRequired(required, error, { structured, offers: offersIn(decision.body), ...options });
      const problem = options.refused ? "verification-failed" : "payment-required";
      throw paymentError(challenges, required, problem, error, options.retryAfter);
    };
    const credential = tools.challenges && extra._meta?.[MCP_CREDENTIAL_KEY];
    if (credential !== undefined) return paidByCredential(handle, extra.signal, target, asked, credential);
    const payment = extra._meta?.[PAYMENT_KEY];
    if (payment === undefined && shown === undefined) return challenge("Payment required", { refused: false });
    if (payment === undefined) {
      const headers = parseHeaders(shown, tools.headers);
      const decision = headers && (await tools.decideCall(target, asked, headers));
      if (decision?.kind === "paid") return deliver(decision, tools.network, extra.signal, handle);
      const isMalformed = decision === undefined || (decision.kind === "refused" && decision.status === 400);
      if (!isMalformed && !isPaymentRequired(decision)) return unavailable();
      if (isMalformed) return challenge("The payment is malformed", { refused: true });
      return challenge("The payment was not accepted", { refused: true, retryAfter: retryAfterOf(decision) });
    }
    const proof = await tools.proofOf(payment, target, extra.signal).catch((error: unknown) => {
      extra.signal.throwIfAborted();
      if (error instanceof SottoError) return error;
      throw error;
    });
    if (proof instanceof SottoError) {
      // The service answered with an error, or not at all; the same payment may pass later, unless it is malformed.
      const retryAfter = RETRIED.has(proof.code) ? RETRY_S : undefined;
      return challenge("The payment could not be settled", { refused: true, retryAfter });
    }
    if (proof === "unavailable")
      return challenge("The payment cannot be checked at the moment", { refused: true, retryAfter: RETRY_S });
    if (proof === undefined) return challenge("The payment is not for this call", { refused: true });
    const decision = await tools.decideCall(target, asked, proofHeaders(proof));
    if (decision.kind !== "paid")
      return challenge("Invalid payment proof", { refused: true, retryAfter: retryAfterOf(decision) });
    return deliver(decision, tools.network, extra.signal, handle);
  };
  const paidByCredential = async (
    handle: Handle,
    signal: AbortSignal,
    target: string,
    price: ToolPrice,
    credential: unknown,
  ): Promise<CallToolResult> => {
    const { challenges } = tools;
    const demand = await tools.decideCall(target, price);
    if (challenges === undefined || !isPaymentRequired(demand)) return unavailable();
    const required = tools.asked(name, description, demand.body);
    const refuse = (problem: MppProblem, detail: string, retryAfter?: number) =>
      paymentError(challenges, required, problem, detail, retryAfter);
    const shown = proofOf(challenges, required.instructions, credential);
    if ("problem" in shown) throw refuse(shown.problem, shown.detail);
    const decision = await tools.decideCall(target, price, proofHeaders(shown.proof));
    // Nothing but a proof was shown.
    if (decision.kind !== "paid" || decision.payment.kind !== "payment")
      throw refuse("verification-failed", "The payment was not accepted.", retryAfterOf(decision));
    const { payment } = decision;
    const result = await deliver(decision, tools.network, signal, handle);
    const receipt = result.isError === true ? {} : receiptMeta(payment.txSignature, shown.challengeId, tools.now());
    return { ...result, _meta: { ...result._meta, ...receipt } };
  };
  const rest = {
    ...(config.title === undefined ? {} : { title: config.title }),
    ...(description === undefined ? {} : { description }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(config.annotations === undefined ? {} : { annotations: config.annotations }),
  };
  const input: AnySchema = strictArguments(inputSchema ?? {});
  return server.registerTool(name, { ...rest, inputSchema: input }, (args: unknown, extra: Extra) =>
    run(args as Parsed<In>, extra),
  );
}

/** After how many seconds a client may send the same payment again. */
const RETRY_S = 5;

/** Errors after which the same payment may pass later. */
const RETRIED = new Set(["SERVICE_UNREACHABLE", "SERVICE_TIMEOUT", "SETTLEMENT_PENDING"]);

function retryAfterOf(decision: Decision): number | undefined {
  const after = Number((decision.kind === "refused" && decision.headers["retry-after"]) || Number.NaN);
  return Number.isFinite(after) ? after : undefined;
}

const unavailable = (): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: "This tool cannot take payments at the moment; try again later." }],
});

type Handle = (payment: Payment) => CallToolResult | Promise<CallToolResult>;
type Paid = Extract<Decision, { kind: "paid" }>;

const proofHeaders = (proof: string): PaymentHeaders => new Map([["x-payment-proof", proof]]);

/** Runs the handler of a paid call, and reports how it ended. What the method adds to the response goes into the result. */
async function deliver(decision: Paid, network: string, signal: AbortSignal, handle: Handle): Promise<CallToolResult> {
  const { payment, receipt, finish, finalHeaders } = decision;
  if (signal.aborted) {
    await reportUnstarted(decision);
    throw signal.reason;
  }
  const reportEnd = createEndReport(decision.ended);
  signal.addEventListener("abort", () => reportEnd?.("cut"), { once: true });
  try {
    const result = await handle(payment);
    const status = result.isError === true ? 500 : 200;
    const headers = { ...(status < 300 ? receipt : {}), ...(signal.aborted ? {} : finalHeaders?.(status)) };
    await finish(signal.aborted ? "aborted" : status);
    reportEnd?.("complete");
    const settled =
      payment.kind === "payment"
        ? { [RESPONSE_KEY]: { success: true, transaction: payment.txSignature, network } }
        : {};
    const told = Object.keys(headers).length === 0 ? {} : { [RESPONSE_HEADERS_KEY]: headers };
    return { ...result, _meta: { ...result._meta, ...settled, ...told } };
  } catch (error) {
    await finish(signal.aborted ? "aborted" : 500);
    reportEnd?.("cut");
    throw error;
  }
}
