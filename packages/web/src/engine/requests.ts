// Requests a resource, and pays for it.
import { type PurchaseProgress, type WrapOptions, wrapFetch } from "@sotto/client";
import { showOrigins } from "@sotto/origins/client";
import { buyPrepaid, mergePrepaid, offeredKey, offeredMeter, prepaid } from "@sotto/prepaid/client";
import { ANONYMOUS, type PaymentInstructions } from "@sotto/protocol";
import { WebError } from "../errors.ts";
import type { Answer, Delivery, OnProgress, Paid, Quote } from "./api.ts";
import { type Context, isCode } from "./context.ts";
import { assertResource, fetchForMerchant, instructionsOf, request, urlOf } from "./instructions.ts";
import { stageText } from "./stages.ts";

const MAX_TEXT_BYTES = 1 << 20;

/**
 * Requests a resource without paying.
 * @throws WebError PAGE_UNREACHABLE, PAGE_BLOCKED, NOT_PAYABLE; FetchError CHALLENGE_INVALID
 */
export async function ask(context: Context, spentToday: bigint, typed: string): Promise<Answer> {
  const url = urlOf(typed);
  const response = await request(url);
  if (response.status !== 402) return { kind: "free", ...(await deliveryOf(response)) };
  const { payment, metadata, offers } = await instructionsOf(response);
  assertResource({ metadata }, response);
  assertTerms(context, { payment, metadata });
  const { wallet: merchant, phone } = payment.recipient;
  const price = BigInt(payment.amountBaseUnits);
  const meter = offeredMeter({ offers, price });
  const quote: Quote = {
    // The server's URL after redirects: the request with the proof goes to exactly this URL.
    url: metadata.resource,
    host: new URL(metadata.resource).host,
    price,
    merchant,
    phone,
    tokens: meter !== undefined || offeredKey(offers, price) !== undefined,
    metered: meter !== undefined,
    service: context.config.service,
    limits: context.limits,
    spentToday,
    spendable: context.wallet.balance().spendable,
  };
  return { kind: "quote", quote };
}

/** The first checks of `wrapFetch`, so that the user is not asked about a payment that `wrapFetch` would refuse. */
function assertTerms(
  { wallet, config }: Context,
  { payment }: Pick<PaymentInstructions, "payment" | "metadata">,
): void {
  const { pool } = wallet;
  const refuse = (what: string) => {
    throw new WebError("NOT_PAYABLE", `the server asks for a payment ${what}`);
  };
  if (payment.chainId !== String(pool.chainId))
    refuse(`on chain ${payment.chainId}; this wallet is on ${pool.chainId}`);
  if (payment.pool !== pool.pool) refuse(`in the pool ${payment.pool}; this wallet uses ${pool.pool}`);
  if (payment.asset !== pool.token) refuse(`in the token ${payment.asset}; this wallet holds ${pool.token}`);
  if (!payment.verifyEndpoint.startsWith(`${config.service.replace(/\/$/, "")}/`))
    refuse(`through the service ${new URL(payment.verifyEndpoint).host}; this wallet trusts ${config.service}`);
}

/**
 * Pays at most the price that the user accepted, and requests the resource. After an interruption, the same request
 * resumes the payment.
 * @throws WebError TERMS_CHANGED, NOT_PAYABLE; the errors of `wrapFetch`
 */
export async function pay(
  context: Context,
  quote: Pick<Quote, "url" | "price" | "merchant">,
  accepted: string | undefined,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Paid> {
  const { wallet, limits } = context;
  let transaction = "";
  /** The amount paid, at most the price that the user saw; 0 if the server no longer asks for a payment. */
  let paid = 0n;
  const within = quote.price <= limits.maxPerRequest;
  const fetching = wrapFetch(fetchForMerchant(accepted ?? quote.merchant), wallet, {
    ...optionsOf(context, quote.price),
    confirmRecipient: ({ offered }) => offered === accepted,
    onProgress: ({ stage, price, txSignature }) => {
      transaction = txSignature ?? transaction;
      paid = price;
      onProgress({ stage: stageText(stage), transaction: txSignature });
    },
  });
  try {
    const delivery = await deliveryOf(await fetching(quote.url, { ...ANONYMOUS, signal }));
    return { ...delivery, transaction, price: paid };
  } catch (error) {
    if (isCode(error, "REQUEST_LIMIT_EXCEEDED") && within)
      throw new WebError("TERMS_CHANGED", "the merchant asks for a higher price than it showed; nothing was paid", {
        offeredPrice: error.details["price"] ?? "",
      });
    throw error;
  } finally {
    void context.refresh();
  }
}

/** At most the price that the user saw. Prepaid tokens pay if the wallet has some; only the user buys them. */
const optionsOf = ({ config, limits, origins, serviceFetch, refresh }: Context, price: bigint): WrapOptions => ({
  services: [config.service],
  maxPerRequest: price <= limits.maxPerRequest ? price : limits.maxPerRequest,
  maxPerDay: limits.maxPerDay,
  merge: true,
  phoneRegistry: config.registry,
  serviceFetch,
  attachments: [showOrigins({ origins })],
  methods: [
    prepaid({
      ...{ maxPerHost: limits.maxPerDay, mirrors: [config.service], buy: false },
      // The page shows the charge and the change when they arrive, which is after the response.
      onCharge: () => void refresh(),
    }),
  ],
});

/**
 * Asks a merchant for change that has not arrived. Resolves also if a request still runs, or the merchant does not know its token.
 * @throws why it did not arrive
 */
export async function claimChange(context: Context, origin: string): Promise<void> {
  try {
    const options = optionsOf(context, context.limits.maxPerRequest);
    const { problems } = await mergePrepaid(fetch, context.wallet, options, { origin });
    if (problems.length > 0) throw problems[0];
  } finally {
    void context.refresh();
  }
}

/** Buys a pack of tokens of the price that the user saw. @throws the errors of `buyPrepaid` */
export async function buyTokens(
  context: Context,
  quote: Pick<Quote, "url" | "price" | "merchant">,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  const options = {
    ...optionsOf(context, quote.price),
    onProgress: ({ stage, txSignature }: PurchaseProgress) =>
      onProgress({ stage: stageText(stage), transaction: txSignature }),
  };
  try {
    await buyPrepaid(fetchForMerchant(quote.merchant), context.wallet, options, {
      origin: new URL(quote.url).origin,
      value: quote.price,
      signal,
    });
  } finally {
    void context.refresh();
  }
}

/** The response as text, truncated at 1 MiB. */
async function deliveryOf(response: Response): Promise<Delivery> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined && bytes < MAX_TEXT_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    bytes += value.length;
  }
  const truncated = bytes >= MAX_TEXT_BYTES;
  if (truncated) await reader?.cancel();
  const text = await new Blob(parts as Uint8Array<ArrayBuffer>[]).text();
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text: text.slice(0, MAX_TEXT_BYTES), truncated };
}
