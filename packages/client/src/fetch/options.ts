import { quoted } from "@sotto/protocol";
import { isFieldName, PAYMENT_FIELDS } from "@sotto/protocol/extend";
import { normalizeServiceUrl } from "@sotto/wallet";
import { MAPPING_CACHE_MS } from "../phone/known.ts";
import type { RecipientOptions } from "../phone/recipient.ts";
import type { PayingAttachment } from "../purchase/attachment.ts";
import type { PurchaseOptions } from "../purchase/context.ts";
import { assertLimits, type SpendingLimits, type ToolLimit } from "../purchase/limits.ts";
import type { OnProgress } from "../purchase/progress.ts";
import { assertSplit, type SplitOptions } from "../purchase/split.ts";
import { PROOF_HEADER } from "./call.ts";
import { FetchError } from "./errors.ts";
import type { OpenMethod, PayingMethod } from "./method.ts";
import type { ConfirmPayment } from "./offer.ts";
import { nameOf, type PaymentHeader, type SchemeHeader } from "./payment-header.ts";
import type { ConfirmRecipient } from "./recipient.ts";
import { assertSecure } from "./secure.ts";

/** Limits and callbacks of a paying fetch. */
export interface WrapOptions extends Omit<PurchaseOptions, "signal"> {
  /** Base URLs of the services that may see payments. A 402 that names another service is refused. */
  services: readonly string[];
  /** Maximum base units for one request. */
  maxPerRequest: bigint;
  /** Maximum base units per day (UTC), across all programs that use this wallet's store. */
  maxPerDay?: bigint | undefined;
  /** Maximum base units per hour (UTC), across all programs that use this wallet's store. */
  maxPerHour?: bigint | undefined;
  /** Maximum base units per day (UTC) for one host, with all its ports. */
  maxPerHost?: bigint | undefined;
  /** Maximum base units per day (UTC) for single hosts, by their names as `limitHost` writes them, in place of `maxPerHost`. */
  maxByHost?: Readonly<Record<string, bigint>> | undefined;
  /** The agent's tool that pays, whose spending counts on its own as well. Default: none. */
  tool?: ToolLimit | undefined;
  /**
   * Called with the checked terms before a purchase begins, and before anything is stored. Anything but `true` refuses
   * the payment. Called again, with `resumed`, before the call resumes a purchase whose proof was sent but which is not
   * known to be paid; a refusal leaves the purchase open. Default: each payment within the limits is made.
   */
  confirmPayment?: ConfirmPayment | undefined;
  /** Pins each host to the first wallet that was paid for it. Default: true. If false, the client pays any wallet with a valid signature. */
  pinHosts?: boolean | undefined;
  /** Called when a host names a different wallet than before. Default: the change is refused. */
  confirmRecipient?: ConfirmRecipient | undefined;
  /**
   * Base URL of the phone registry. If a 402 names a phone number, the wallet and key in the 402 must be the ones that
   * the registry has for that number. Default: phone numbers are ignored, and only the wallet's signature of its
   * shielded address is checked.
   */
  phoneRegistry?: string | undefined;
  /**
   * How to confirm a change of a number's wallet or key, how to sign lookups, and how long to reuse a verified number.
   * Default: changes are refused, lookups are not signed, and each number is looked up once a day.
   */
  phone?: Omit<RecipientOptions, "signal"> | undefined;
  /**
   * Further ways to pay, asked in this order before a request is paid privately; after `privatePayment`, if it is in the
   * list, are those for which x402-zk has precedence. A request that carries one of their headers is sent as it is. Default:
   * each request is paid by a private payment of its own.
   */
  methods?: readonly PayingMethod[] | undefined;
  /**
   * What payments show beside their proofs to servers that ask for it, such as where the money comes from. Default: nothing.
   */
  attachments?: readonly PayingAttachment[] | undefined;
  /**
   * Prepares the next payment to each host that was paid in the last 15 minutes, with the terms of its last payment, so
   * that it takes milliseconds: at most four at a time, while no other proof is made. Costs processor time for payments
   * that may never come. Default: false.
   */
  prepare?: boolean | undefined;
  /** Keeps notes ready for parallel payments. */
  split?: SplitOptions | undefined;
  /** Maximum bytes of a request's body; the body is kept in memory to send it again. Default: 4 MiB. */
  bodyLimit?: number | undefined;
  /** Milliseconds before a proof is sent again to a server that failed, doubled each time. Default: 500. */
  retryDelayMs?: number | undefined;
  /** The fetch for requests to the services. Default: the wrapped fetch. */
  serviceFetch?: typeof fetch | undefined;
}

/** Options of a single call, in addition to those of fetch. */
export interface PayingInit extends RequestInit {
  /** Options of the payment. */
  sotto?: {
    /**
     * Names the purchase: a purchase with a given key is paid at most once, ever. Default: equal requests (method, URL,
     * body) are separate purchases, but the next equal request resumes an unfinished one.
     */
    key?: string | undefined;
    /** A string that only equal requests to an origin share. Default: method, URL and body. */
    request?: string | undefined;
    onProgress?: OnProgress | undefined;
  };
}

/** A `fetch` that pays for 402 responses. */
export type PayingFetch = (input: string | URL | Request, init?: PayingInit) => Promise<Response>;

/** The checked options of a paying fetch. */
export interface CheckedOptions {
  readonly services: readonly string[];
  readonly limits: SpendingLimits;
  /** Base URL of the phone registry. */
  readonly registry: string | undefined;
  readonly methods: readonly PayingMethod[];
  readonly attachments: readonly PayingAttachment[];
}

const OPTIONS: { readonly [name in keyof WrapOptions]-?: true } = {
  services: true,
  maxPerRequest: true,
  maxPerDay: true,
  maxPerHour: true,
  maxPerHost: true,
  maxByHost: true,
  attachments: true,
  tool: true,
  confirmPayment: true,
  pinHosts: true,
  confirmRecipient: true,
  phoneRegistry: true,
  phone: true,
  methods: true,
  prepare: true,
  split: true,
  bodyLimit: true,
  retryDelayMs: true,
  serviceFetch: true,
  onProgress: true,
  fundsTimeoutMs: true,
  chainTimeoutMs: true,
  merge: true,
};

/**
 * @throws FetchError FETCH_OPTION_INVALID, ORIGIN_NOT_SECURE; ServiceClientError SERVICE_NOT_ALLOWED; SottoError
 *   INVALID_AMOUNT
 */
export function parseOptions(options: WrapOptions, chainId: bigint): CheckedOptions {
  const unknown = Object.keys(Object(options)).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined)
    throw new FetchError(
      "FETCH_OPTION_INVALID",
      `there is no option ${quoted(unknown)}; further ways to pay belong in the option methods`,
    );
  const {
    services,
    maxPerRequest,
    maxPerDay,
    maxPerHour,
    maxPerHost,
    maxByHost: hosts,
    tool,
    split,
    phoneRegistry,
    phone,
    prepare,
    methods = [],
    attachments = [],
  } = Object(options) as WrapOptions;
  if (prepare !== undefined && typeof prepare !== "boolean")
    throw new FetchError("FETCH_OPTION_INVALID", "prepare must be true or false");
  const cacheMs = phone?.cacheMs ?? 0;
  if (!Number.isSafeInteger(cacheMs) || cacheMs < 0 || cacheMs > MAPPING_CACHE_MS)
    throw new FetchError(
      "FETCH_OPTION_INVALID",
      `phone.cacheMs is ${cacheMs}, but must be 0 to ${MAPPING_CACHE_MS} ms`,
    );
  if (!Array.isArray(services) || services.length === 0)
    throw new FetchError("FETCH_OPTION_INVALID", "services must name the base URL of at least one service");
  if (typeof maxPerRequest !== "bigint")
    throw new FetchError("FETCH_OPTION_INVALID", "maxPerRequest must say how many base units a request may cost");
  if (split !== undefined) assertSplit(split);
  const checkedMethods = parseMethods(methods);
  const checkedAttachments = parseAttachments(attachments, checkedMethods);
  const urls = services.map(normalizeServiceUrl);
  const registry = phoneRegistry === undefined ? undefined : normalizeServiceUrl(phoneRegistry);
  for (const address of [...urls, ...(registry === undefined ? [] : [registry])])
    assertSecure(new URL(address), chainId);
  const limits = { perRequest: maxPerRequest, perDay: maxPerDay, perHour: maxPerHour, perHost: maxPerHost };
  return {
    services: urls,
    registry,
    methods: checkedMethods,
    attachments: checkedAttachments,
    // Copied and frozen, because methods get this object.
    limits: frozenLimits({ ...limits, hosts, tool }),
  };
}

/** @throws SottoError INVALID_AMOUNT; PurchaseError PURCHASE_INVALID */
function frozenLimits({ hosts, tool, ...limits }: SpendingLimits): SpendingLimits {
  const copied = {
    ...limits,
    hosts: hosts && Object.freeze({ ...hosts }),
    tool: tool && Object.freeze({ ...tool }),
  };
  return Object.freeze(assertLimits(copied));
}

/** Name of the private payment. */
export const PRIVATE_NAME = "private";

/**
 * Stands for the private payment of an x402-zk challenge in the list of methods, where its place matters: a server may offer
 * it beside other formats. Default: it is last.
 */
export const privatePayment: PayingMethod = Object.freeze({
  name: PRIVATE_NAME,
  headers: [PROOF_HEADER],
  open: (): OpenMethod => {
    throw new FetchError("METHOD_INVALID", "the private payment is not opened alone");
  },
});

const ATTACHMENT_NAME = /^[a-z][A-Za-z0-9-]{0,31}$/;
const METHOD_NAME = /^[a-z][a-z0-9-]{0,31}$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const SCHEME_NAME = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;
const ASKED_VALUE = /^[\x20-\x7e]{1,256}$/;
/** Headers of the private payment, and those that the platform sets or that hold secrets of the caller. */
const OTHERS_HEADERS = [PROOF_HEADER, "cookie", "host", "origin", "content-length", "content-type"];
/** Headers with the caller's secrets of which a method may use a scheme of its own. */
const SHARED_HEADERS = ["authorization", "proxy-authorization"];

/** Checks methods, and returns copies that their authors cannot change afterwards. @throws FetchError FETCH_OPTION_INVALID */
export function parseMethods<M extends OpenMethod>(methods: readonly PayingMethod<M>[]): readonly PayingMethod<M>[] {
  const invalid = (what: string) => new FetchError("FETCH_OPTION_INVALID", `methods ${what}`);
  if (!Array.isArray(methods)) throw invalid("must be a list of ways to pay");
  const names = new Set<string>();
  const used = new Set([...OTHERS_HEADERS, ...SHARED_HEADERS]);
  return (methods as readonly PayingMethod<M>[]).map((method): PayingMethod<M> => {
    if (method === privatePayment) {
      if (names.has(PRIVATE_NAME)) throw invalid("name the private payment twice");
      names.add(PRIVATE_NAME);
      return method;
    }
    const { name, headers: given, asks: asked = {}, paysKeyed, open } = Object(method) as PayingMethod<M>;
    if (typeof name !== "string" || !METHOD_NAME.test(name) || typeof open !== "function" || !Array.isArray(given))
      throw invalid("must be objects with a name of lower-case letters, digits and hyphens, headers, and open()");
    const headers = (given as readonly PaymentHeader[]).map(copyOf);
    const asks = { ...asked };
    const named = [...headers.map(nameOf), ...Object.keys(asks)];
    const values = Object.values(asks);
    if (named.some((header) => typeof header !== "string" || !HEADER_NAME.test(header)))
      throw invalid(`: ${name} names a header that no request can have`);
    if (headers.some((header) => typeof header !== "string" && !isShared(header)))
      throw invalid(`: ${name} names a scheme, which only ${SHARED_HEADERS.join(" and ")} can have`);
    if (values.some((value) => typeof value !== "string" || !ASKED_VALUE.test(value)))
      throw invalid(`: ${name} asks with a value that no header can have`);
    const keys = [...headers.map(keyOf), ...Object.keys(asks).map(keyOf)];
    const reserved = name === PRIVATE_NAME || names.has(name);
    const taken = reserved ? name : keys.find((key) => used.has(key));
    if (taken !== undefined) throw invalid(`: ${name} uses ${taken}, which is reserved or another method's`);
    names.add(name);
    for (const key of keys) used.add(key);
    return { name, headers, asks, paysKeyed, open: (core) => open.call(method, core) };
  });
}

/**
 * Checks attachments, and returns copies that their authors cannot change afterwards.
 * @param methods those beside them, whose names and headers are taken. Default: none
 * @throws FetchError FETCH_OPTION_INVALID
 */
export function parseAttachments(
  attachments: readonly PayingAttachment[],
  methods: readonly PayingMethod[] = [],
): readonly PayingAttachment[] {
  const invalid = (what: string) => new FetchError("FETCH_OPTION_INVALID", `attachments ${what}`);
  if (!Array.isArray(attachments)) throw invalid("must be a list");
  const asked = methods.flatMap(({ asks = {} }) => Object.keys(asks));
  const used = new Set([...OTHERS_HEADERS, ...SHARED_HEADERS, ...methods.flatMap(({ headers }) => headers.map(keyOf))]);
  for (const key of asked) used.add(key.toLowerCase());
  const names = new Set(methods.map(({ name }) => name));
  const fields = new Set(PAYMENT_FIELDS);
  return (attachments as readonly PayingAttachment[]).map((attachment): PayingAttachment => {
    const { name, header, field, waitMs, choose, show, prepare } = Object(attachment) as PayingAttachment;
    const isNamed = typeof name === "string" && ATTACHMENT_NAME.test(name);
    const isField = field === undefined || isFieldName(field);
    const isOptional = [choose, prepare].every((each) => each === undefined || typeof each === "function");
    const isShown = typeof header === "string" && HEADER_NAME.test(header) && typeof show === "function";
    if (!isNamed || !isField || !isOptional || !isShown)
      throw invalid(
        "must be objects with a name, a header, show() and perhaps choose() and prepare(); a field has letters only",
      );
    if (waitMs !== undefined && (!Number.isSafeInteger(waitMs) || waitMs < 0))
      throw new FetchError(
        "FETCH_OPTION_INVALID",
        `waitMs of the attachment ${name} must be a whole number of milliseconds, 0 or more, got ${String(waitMs)}`,
      );
    const isTaken = field !== undefined && fields.has(field);
    const taken = names.has(name) ? name : used.has(keyOf(header)) ? header : isTaken ? field : undefined;
    if (taken !== undefined) throw invalid(`: ${name} uses ${taken}, which is reserved or another one's`);
    names.add(name);
    used.add(keyOf(header));
    if (field !== undefined) fields.add(field);
    return {
      ...{ name, header, field, waitMs },
      ...(choose && { choose: (...asked) => choose.apply(attachment, asked) }),
      show: (...asked) => show.apply(attachment, asked),
      ...(prepare && { prepare: async (...asked) => prepare.apply(attachment, asked) }),
    };
  });
}

const isShared = ({ name, scheme }: SchemeHeader): boolean =>
  SHARED_HEADERS.includes(name.toLowerCase()) && SCHEME_NAME.test(scheme);

const copyOf = (header: PaymentHeader): PaymentHeader => {
  const { name, scheme } = Object(header) as { name?: unknown; scheme?: unknown };
  return typeof header === "string" ? header : { name: String(name), scheme: String(scheme) };
};

/** Equal for headers that would replace each other. */
const keyOf = (header: PaymentHeader): string =>
  (typeof header === "string" ? header : `${header.name} ${header.scheme}`).toLowerCase();
