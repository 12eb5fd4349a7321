// Turns a tool of any MCP server into a paid tool. A payment is bound to the server, the tool and its arguments, is
// checked by the resource server's paywall, and runs the handler once.
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
  createPaywall,
  type Decision,
  isPaymentRequired,
  type PaidProof,
  type PaymentMethod,
  type Paywall,
  type PaywallCore,
  type PaywallOptions,
  type Price,
} from "@sotto/resource-server";
import { SottoService } from "@sotto/wallet";
import type { Extra } from "./agent/approval.ts";
import { AgentError } from "./errors.ts";
import { paymentError, proofOf, receiptMeta } from "./paid/mpp.ts";
import { isToolName, targetOf } from "./paid/resource.ts";
import { type Asked, askedBy, PAYMENT_KEY, paymentRequired, RESPONSE_KEY } from "./paid/x402.ts";
import { strictArguments } from "./strict-arguments.ts";

/** The options of a paywall that do not depend on HTTP or on a single tool. */
export interface ToolPaywallOptions
  extends Omit<PaywallOptions, "price" | "routes" | "free" | "page" | "cors" | "methods"> {
  /**
   * Asks for payments in MPP's format: a call without a payment gets the error -32042 instead of x402's result. Payments of
   * both formats are accepted. Default: x402's format.
   */
  readonly mpp?: MppOptions | undefined;
}

/** A paywall for tools. Several tools and servers of one recipient can share it. */
export interface ToolPaywall {
  /** See `Paywall.ready`. */
  readonly ready: Promise<void>;
  /** Closes the store and stops the timers; see `Paywall.close`. */
  close(): Promise<void>;
}

/** The header by which a tool passes its own price to the paywall. Requests are made here, so no caller can send it. */
const PRICE_HEADER = "x-tool-price";

class Tools implements ToolPaywall {
  readonly paywall: Paywall;
  readonly #core: PaywallCore;
  readonly #options: ToolPaywallOptions;
  readonly #service: SottoService;
  /** Undefined without MPP. */
  readonly challenges: Challenges | undefined;

  constructor(paywall: Paywall, core: PaywallCore, options: ToolPaywallOptions, challenges: Challenges | undefined) {
    this.paywall = paywall;
    this.#core = core;
    this.#options = options;
    this.challenges = challenges;
    this.#service = new SottoService(options.service, { chainId: BigInt(options.chain.chainId) });
  }

  get ready(): Promise<void> {
    return this.paywall.ready;
  }

  close(): Promise<void> {
    return this.paywall.close();
  }

  decide(target: string, price: bigint | string, proof: string | undefined): Promise<Decision> {
    const values = { "x-payment-proof": proof, [PRICE_HEADER]: typeof price === "bigint" ? `${price}n` : price };
    const header = (name: string): readonly string[] => {
      const value = Object.hasOwn(values, name) ? values[name as keyof typeof values] : undefined;
      return value === undefined ? [] : [value];
    };
    return this.paywall.decide({ method: "POST", target, header });
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
  const own = ["price", "routes", "free", "page", "cors", "methods"].find((name) =>
    Object.hasOwn(Object(options), name),
  );
  if (own !== undefined) throw new AgentError("MCP_OPTION_INVALID", `a paywall for tools has no option ${own}`);
  const price = (header: (name: string) => readonly string[]): Price => {
    const [text = ""] = header(PRICE_HEADER);
    return text.endsWith("n") ? BigInt(text.slice(0, -1)) : text;
  };
  const { mpp, ...rest } = options;
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
    price: (request) => price((name) => request.header(name)),
    methods: [tools],
  });
  return new Tools(paywall, core!, options, challenges);
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
  /** Whole tokens as decimal text, base units as a bigint, or a function of the arguments. */
  readonly price: Price | ((args: Parsed<In>) => Price | "free" | Promise<Price | "free">);
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

/** Runs a paid tool. @param payment undefined if the price function returned "free" */
export type PaidToolHandler<In extends Input> = (
  args: Parsed<In>,
  extra: Extra,
  payment: PaidProof | undefined,
) => CallToolResult | Promise<CallToolResult>;

/**
 * Registers a paid tool. A call without a payment gets x402's PaymentRequired, or the error of MPP; a call with one runs the
 * handler, once. A handler that throws, returns `isError` or is cancelled releases the payment, three times in total, as a
 * paywall's handler does.
 * @throws AgentError MCP_OPTION_INVALID
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
  const structured = outputSchema === undefined;
  const run = async (args: Parsed<In>, extra: Extra): Promise<CallToolResult> => {
    const asked = typeof price === "function" ? await price(args) : price;
    if (asked === "free") return handler(args, extra, undefined);
    const target = targetOf(name, args);
    const challenge = async (error: string, options: { refused: boolean; retryAfter?: number | undefined }) => {
      const decision = await tools.decide(target, asked, undefined);
      if (!isPaymentRequired(decision)) return unavailable();
      const required = tools.asked(name, description, decision.body);
      const { challenges } = tools;
      if (challenges === undefined) return paymentRequired(required, error, { structured, ...options });
      const problem = options.refused ? "verification-failed" : "payment-required";
      throw paymentError(challenges, required, problem, error, options.retryAfter);
    };
    const credential = tools.challenges && extra._meta?.[MCP_CREDENTIAL_KEY];
    if (credential !== undefined) return paidByCredential(args, extra, target, asked, credential);
    const payment = extra._meta?.[PAYMENT_KEY];
    if (payment === undefined) return challenge("Payment required", { refused: false });
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
    const decision = await tools.decide(target, asked, proof);
    // The paywall of tools has no other way to pay.
    if (decision.kind !== "paid" || decision.payment.kind !== "payment")
      return challenge("Invalid payment proof", { refused: true, retryAfter: retryAfterOf(decision) });
    const { payment: proven, finish } = decision;
    return deliver({ payment: proven, finish }, tools.network, extra.signal, () => handler(args, extra, proven));
  };
  const paidByCredential = async (
    args: Parsed<In>,
    extra: Extra,
    target: string,
    price: bigint | string,
    credential: unknown,
  ): Promise<CallToolResult> => {
    const { challenges } = tools;
    const demand = await tools.decide(target, price, undefined);
    if (challenges === undefined || !isPaymentRequired(demand)) return unavailable();
    const required = tools.asked(name, description, demand.body);
    const refuse = (problem: MppProblem, detail: string, retryAfter?: number) =>
      paymentError(challenges, required, problem, detail, retryAfter);
    const shown = proofOf(challenges, required.instructions, credential);
    if ("problem" in shown) throw refuse(shown.problem, shown.detail);
    const decision = await tools.decide(target, price, shown.proof);
    if (decision.kind !== "paid" || decision.payment.kind !== "payment")
      throw refuse("verification-failed", "The payment was not accepted.", retryAfterOf(decision));
    const { payment, finish } = decision;
    const result = await deliver({ payment, finish }, tools.network, extra.signal, () => handler(args, extra, payment));
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

async function deliver(
  { payment, finish }: { payment: PaidProof } & Pick<Extract<Decision, { kind: "paid" }>, "finish">,
  network: string,
  signal: AbortSignal,
  handle: () => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    const result = await handle();
    await finish(signal.aborted ? "aborted" : result.isError === true ? 500 : 200);
    const response = { success: true, transaction: payment.txSignature, network };
    return { ...result, _meta: { ...result._meta, [RESPONSE_KEY]: response } };
  } catch (error) {
    await finish(signal.aborted ? "aborted" : 500);
    throw error;
  }
}
