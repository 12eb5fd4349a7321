import { type PaymentInstructions, parseInstructions, readBody, SottoError } from "@sotto/protocol";
import { tokenInterface } from "../chain/abi.ts";
import { normaliseServiceUrl } from "../service/address.ts";
import { quoted } from "../service/errors.ts";
import { ask } from "../wallet/connect.ts";
import type { Wallet } from "../wallet/wallet.ts";
import type { Call } from "./call.ts";
import { FetchError } from "./errors.ts";
import { describeForeign } from "./foreign-service.ts";
import { expectSecure } from "./secure.ts";

/** A 402 that may be paid: read, for the wallet's chain, pool and token, for what was requested, by an allowed service. */
export interface Challenge {
  readonly instructions: PaymentInstructions;
  /** Base units. */
  readonly price: bigint;
  /** Base address of the service. */
  readonly service: string;
  /** Where the request with the proof goes. */
  readonly url: URL;
}

/** Bytes a 402's body may have; one of the interface has some 2,000. */
const BODY_LIMIT = 64 * 1024;
/** Milliseconds it may take. The caller's signal may be none, and whoever answers may never come to an end. */
const BODY_MS = 30_000;
const SCHEME = /(?:^|,)\s*x402-zk\s*(?:,|$)/i;

/** Whether an answer asks for a payment that a wallet of ours can make. Any other 402 is the caller's. */
export function isChallenge(response: Response): boolean {
  return response.status === 402 && SCHEME.test(response.headers.get("www-authenticate") ?? "");
}

/** @throws FetchError CHALLENGE_*, RESOURCE_MISMATCH, ENDPOINT_NOT_ALLOWED */
export async function readChallenge(
  call: Call,
  response: Response,
  wallet: Wallet,
  services: readonly string[],
  bodyMs = BODY_MS,
): Promise<Challenge> {
  const url = challengedUrl(call, response);
  expectSecure(url, wallet.pool.chainId);
  const instructions = await readInstructions(response, bodyMs);
  const { payment, metadata } = instructions;
  const { pool } = wallet;
  const expected = { chainId: String(pool.chainId), pool: pool.pool, asset: pool.token };
  for (const [field, value] of Object.entries(expected))
    if (payment[field as keyof typeof expected] !== value)
      throw new FetchError("CHALLENGE_MISMATCH", `the payment is to be made in another ${field} than the wallet's`, {
        field,
        expected: value,
        found: payment[field as keyof typeof expected],
      });
  checkResource(metadata.resource, url);
  const service = serviceOf(payment.verifyEndpoint, payment.settleEndpoint, services);
  await checkDecimals(wallet, payment.decimals);
  return { instructions, price: BigInt(payment.amountBaseUnits), service, url };
}

/**
 * Where the 402 comes from. A redirect within the origin that was asked may lead to it; one to another origin may not:
 * whoever the caller meant to pay, it was not that one.
 */
function challengedUrl(call: Call, response: Response): URL {
  if (!response.redirected || response.url === "") return call.url;
  const url = new URL(response.url);
  url.hash = "";
  const plain = call.method === "GET" || call.method === "HEAD";
  if (url.origin === call.url.origin && plain) return url;
  throw new FetchError(
    "CHALLENGE_REDIRECTED",
    `the request was redirected to ${url.origin}, which asks for a payment`,
    {
      requested: call.url.origin,
      found: url.origin,
    },
  );
}

async function readInstructions(response: Response, bodyMs: number): Promise<PaymentInstructions> {
  const timeout = AbortSignal.timeout(bodyMs);
  const bytes = await readBody(response, BODY_LIMIT, timeout).catch((cause: unknown) => {
    if (!timeout.aborted && !(cause instanceof SottoError)) throw cause;
    const message = timeout.aborted ? `takes more than ${bodyMs} ms` : `has more than ${BODY_LIMIT} bytes`;
    throw new FetchError("CHALLENGE_INVALID", `the 402's body ${message}`, {}, { cause });
  });
  try {
    return parseInstructions(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    const reason = cause instanceof SottoError ? cause.message : "it is no JSON";
    throw new FetchError("CHALLENGE_INVALID", `the 402 cannot be paid: ${reason}`, {}, { cause });
  }
}

/**
 * The resource is what the proof binds, byte for byte as the server names it. A server may write its own URL in another
 * form than the caller did (an explicit port, an escape), as long as the URL standard reads both as the same.
 */
function checkResource(resource: string, url: URL): void {
  const parsed = URL.canParse(resource) ? new URL(resource) : undefined;
  if (parsed !== undefined && parsed.href === url.href && !resource.includes("#")) return;
  const elsewhere = parsed === undefined || parsed.origin !== url.origin;
  throw new FetchError(
    "RESOURCE_MISMATCH",
    elsewhere
      ? `the 402 is for ${quoted(parsed?.origin) || "no URL"}, but ${url.origin} was requested: use the shop's own address`
      : "the 402 is for another resource than the one that was requested",
    { requested: url.origin },
  );
}

/** The allowed service whose endpoints these are: bundles go nowhere else. @throws FetchError ENDPOINT_NOT_ALLOWED */
function serviceOf(verifyEndpoint: string, settleEndpoint: string, services: readonly string[]): string {
  const found = services.find(
    (service) => sameUrl(verifyEndpoint, `${service}/verify`) && sameUrl(settleEndpoint, `${service}/settle`),
  );
  if (found !== undefined) return found;
  const message = describeForeign(verifyEndpoint, settleEndpoint, services);
  throw new FetchError("ENDPOINT_NOT_ALLOWED", message, { verifyEndpoint: verifyEndpoint.slice(0, 256) });
}

function sameUrl(found: string, expected: string): boolean {
  try {
    return normaliseServiceUrl(found) === expected;
  } catch {
    return false;
  }
}

/** What a price looks like follows from the decimals: a confirmation must not be asked for with a wrong one. */
const known = new WeakMap<Wallet, Promise<number>>();

async function checkDecimals(wallet: Wallet, found: number): Promise<void> {
  let decimals = known.get(wallet);
  if (decimals === undefined) {
    decimals = ask(wallet.chain, wallet.pool.token, tokenInterface, "decimals", []).then(Number);
    decimals.catch(() => known.delete(wallet));
    known.set(wallet, decimals);
  }
  const expected = await decimals;
  if (found === expected) return;
  throw new FetchError("CHALLENGE_MISMATCH", `the token has ${expected} decimals, the 402 says ${found}`, {
    field: "decimals",
    expected,
    found,
  });
}
