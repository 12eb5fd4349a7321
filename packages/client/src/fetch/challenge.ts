import { abortable, readDecimals } from "@sotto/chain";
import {
  foreign,
  message,
  type Offers,
  type PaymentInstructions,
  parseInstructions,
  parseOffers,
  readBody,
  SottoError,
} from "@sotto/protocol";
import { normalizeServiceUrl, type Wallet } from "@sotto/wallet";
import type { Call } from "./call.ts";
import { FetchError } from "./errors.ts";
import { describeForeign } from "./foreign-service.ts";
import { assertSecure } from "./secure.ts";
import type { Exchange } from "./server-clock.ts";

/** A 402 that passed the checks: right chain, pool, token and resource, and an allowed service. */
export interface Challenge {
  /** Frozen, as the offers are. */
  readonly instructions: PaymentInstructions;
  /** Other ways to pay. Nobody has checked them. */
  readonly offers: Offers;
  /** Base units. */
  readonly price: bigint;
  /** Base URL of the service. */
  readonly service: string;
  /** The URL to which the request is sent again with the proof. */
  readonly url: URL;
}

/** A challenge with the times that tell whether the server's clock is right. */
export interface ReadChallenge extends Challenge {
  readonly exchange: Exchange;
}

/** Maximum bytes of a 402's body; a typical one has 2,000. */
export const BODY_LIMIT = 64 * 1024;
/** Maximum milliseconds for reading that body: the caller may pass no signal, and the server may never finish. */
export const BODY_MS = 30_000;
const SCHEME = /(?:^|,)\s*x402-zk\s*(?:,|$)/i;

/** Whether a response is an x402-zk payment challenge. The caller handles any other 402. */
export function isChallenge(response: Response): boolean {
  return response.status === 402 && SCHEME.test(response.headers.get("www-authenticate") ?? "");
}

/** A challenge that was read from the network. */
export interface Received {
  /** The response, whose body is read; for HEAD, that to a GET. */
  readonly response: Response;
  readonly body: Uint8Array;
  /** ms */
  readonly answered: number;
}

/**
 * Reads an x402-zk challenge.
 * @throws FetchError CHALLENGE_INVALID
 */
export async function receiveChallenge(
  call: Call,
  response: Response,
  wallet: Wallet,
  bodyMs = BODY_MS,
): Promise<Received> {
  const complete = call.method === "HEAD" ? await challengeOfGet(call) : response;
  const answered = wallet.now();
  return { response: complete, body: await readWhole(complete, bodyMs), answered };
}

/**
 * @param sent when the request was sent, ms
 * @throws FetchError CHALLENGE_*, RESOURCE_MISMATCH, ENDPOINT_NOT_ALLOWED
 */
export async function parseChallenge(
  call: Call,
  { response, body, answered }: Received,
  wallet: Wallet,
  services: readonly string[],
  sent: number,
): Promise<ReadChallenge> {
  const url = challengedUrl(call, response);
  assertSecure(url, wallet.pool.chainId);
  return challengeOf(call, { ...parseBody(body), url, sent, answered }, wallet, services);
}

/**
 * Checks the terms that a method read from a 402 of another format, as strictly as those of an x402-zk challenge.
 * @param exchange when the request was sent and answered, ms
 * @throws FetchError, as `parseChallenge`
 */
export async function parseForeignTerms(
  call: Call,
  response: Response,
  given: PaymentInstructions,
  wallet: Wallet,
  services: readonly string[],
  exchange: Pick<Exchange, "sent" | "answered">,
): Promise<ReadChallenge> {
  const url = challengedUrl(call, response);
  assertSecure(url, wallet.pool.chainId);
  const instructions = frozen(parsePayable(given, parseInstructions));
  return challengeOf(call, { instructions, offers: new Map(), url, ...exchange }, wallet, services);
}

/** @throws FetchError CHALLENGE_MISMATCH, RESOURCE_MISMATCH, ENDPOINT_NOT_ALLOWED */
async function challengeOf(
  call: Call,
  terms: Pick<Challenge, "instructions" | "offers" | "url"> & Pick<Exchange, "sent" | "answered">,
  wallet: Wallet,
  services: readonly string[],
): Promise<ReadChallenge> {
  const { instructions, offers, url, sent, answered } = terms;
  const { payment, metadata } = instructions;
  const { pool } = wallet;
  const expected = { chainId: String(pool.chainId), pool: pool.pool, asset: pool.token };
  for (const [field, value] of Object.entries(expected))
    if (payment[field as keyof typeof expected] !== value)
      throw new FetchError("CHALLENGE_MISMATCH", `the 402 asks for another ${field} than the wallet's`, {
        field,
        expected: value,
        found: payment[field as keyof typeof expected],
      });
  assertResource(metadata.resource, url);
  const service = serviceOf(payment.verifyEndpoint, payment.settleEndpoint, services);
  await assertDecimals(wallet, payment.decimals, call.signal);
  const exchange = { sent, answered, server: metadata.timestamp };
  return { instructions, offers, price: BigInt(payment.amountBaseUnits), service, url, exchange };
}

/** A copy for a method: the private payment and the other methods see no change that it makes. */
export function copyOf({ exchange: _, ...challenge }: ReadChallenge): Challenge {
  return { ...challenge, offers: new Map(challenge.offers), url: new URL(challenge.url) };
}

/** Freezes parsed JSON. */
function frozen<T>(json: T): T {
  if (typeof json === "object" && json !== null) Object.values(json).forEach(frozen);
  return Object.freeze(json);
}

/**
 * Asks with GET for the terms of a HEAD: they are in the body of a 402, which the response to a HEAD does not have. HTTP
 * defines HEAD as GET without the body, so both cost the same.
 */
async function challengeOfGet(call: Call): Promise<Response> {
  const response = await call.sendAsGet();
  if (isChallenge(response)) return response;
  await response.body?.cancel().catch(() => undefined);
  const { status } = response;
  throw new FetchError(
    "CHALLENGE_INVALID",
    `the server asks for a payment for HEAD, but answers a GET, which would have the terms, with status ${status}; send the GET instead`,
    { status },
  );
}

/**
 * Returns the URL that answered 402. A redirect within the requested origin is accepted. A redirect to another origin
 * is refused: the caller did not choose to pay that origin.
 */
function challengedUrl(call: Call, response: Response): URL {
  if (!response.redirected || response.url === "") return call.url;
  const url = new URL(response.url);
  url.hash = "";
  const plain = call.method === "GET" || call.method === "HEAD";
  if (url.origin === call.url.origin && plain) return url;
  throw new FetchError(
    "CHALLENGE_REDIRECTED",
    message`the request was redirected to ${foreign(url.origin)}, which asks for a payment`,
    { requested: call.url.origin, found: url.origin },
  );
}

/** @throws FetchError CHALLENGE_INVALID */
async function readWhole(response: Response, bodyMs: number): Promise<Uint8Array> {
  const timeout = AbortSignal.timeout(bodyMs);
  return readBody(response, BODY_LIMIT, timeout).catch((cause: unknown) => {
    if (!timeout.aborted && !(cause instanceof SottoError)) throw cause;
    const what = timeout.aborted ? `took more than ${bodyMs} ms` : `has more than ${BODY_LIMIT} bytes`;
    throw new FetchError("CHALLENGE_INVALID", `the 402's body ${what}`, {}, { cause });
  });
}

/** @throws FetchError CHALLENGE_INVALID */
const parseBody = (bytes: Uint8Array): Pick<Challenge, "instructions" | "offers"> =>
  parsePayable(bytes, () => {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const offers = parseOffers(body);
    for (const offer of offers.values()) frozen(offer);
    return { instructions: frozen(parseInstructions(body)), offers };
  });

/** @throws FetchError CHALLENGE_INVALID */
function parsePayable<A, B>(given: A, parse: (given: A) => B): B {
  try {
    return parse(given);
  } catch (cause) {
    const reason = cause instanceof SottoError ? cause : "its body is not JSON";
    throw new FetchError("CHALLENGE_INVALID", message`the 402 cannot be paid: ${reason}`, {}, { cause });
  }
}

/**
 * The proof binds the resource byte for byte as the server writes it. The server may write its URL differently from the
 * caller (an explicit port, an escape) as long as the URL standard parses both to the same URL.
 */
function assertResource(resource: string, url: URL): void {
  const parsed = URL.canParse(resource) ? new URL(resource) : undefined;
  if (parsed !== undefined && parsed.href === url.href && !resource.includes("#")) return;
  const elsewhere = parsed === undefined || parsed.origin !== url.origin;
  throw new FetchError(
    "RESOURCE_MISMATCH",
    elsewhere
      ? message`the 402 is for ${parsed === undefined ? "no URL" : foreign(parsed.origin)}, but ${url.origin} was requested; request the server's own address`
      : "the 402 is for a different resource than the requested one",
    { requested: url.origin },
  );
}

/**
 * Returns the allowed service that has these endpoints; bundles are sent nowhere else.
 * @throws FetchError ENDPOINT_NOT_ALLOWED
 */
function serviceOf(verifyEndpoint: string, settleEndpoint: string, services: readonly string[]): string {
  const found = services.find(
    (service) => sameUrl(verifyEndpoint, `${service}/verify`) && sameUrl(settleEndpoint, `${service}/settle`),
  );
  if (found !== undefined) return found;
  const text = describeForeign(verifyEndpoint, settleEndpoint, services);
  throw new FetchError("ENDPOINT_NOT_ALLOWED", text, { verifyEndpoint: verifyEndpoint.slice(0, 256) });
}

function sameUrl(found: string, expected: string): boolean {
  try {
    return normalizeServiceUrl(found) === expected;
  } catch {
    return false;
  }
}

/** Decimals of each wallet's token, as the chain and a 402 agreed on. */
const agreed = new WeakMap<Wallet, number>();

/**
 * Wrong decimals would show the user a wrong price to confirm. A difference is read again each time: one wrong answer of
 * a node must not refuse all payments until the wallet is opened again.
 */
async function assertDecimals(wallet: Wallet, found: number, signal: AbortSignal | undefined): Promise<void> {
  if (agreed.get(wallet) === found) return;
  const expected = await readDecimals(abortable(wallet.chain, signal), wallet.pool.token);
  if (found !== expected)
    throw new FetchError("CHALLENGE_MISMATCH", `the token has ${expected} decimals, the 402 says ${found}`, {
      field: "decimals",
      expected,
      found,
    });
  agreed.set(wallet, found);
}
