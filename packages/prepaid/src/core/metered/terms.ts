import type { Bytes32 } from "@sotto/protocol";
import {
  assertObject,
  assertText,
  fail,
  recode,
  type StructFields,
  structDigest,
  type TypedData,
  typedDataOf,
  typedDataRequest,
} from "@sotto/protocol/extend";
import { assertEd25519Key } from "../ed25519.ts";
import { laterEpoch } from "../epoch.ts";
import {
  decodeMerchant,
  encodeMerchant,
  isSameMerchant,
  MERCHANT_FIELDS,
  MERCHANT_NAMES,
  merchantOf,
  type PrepaidMerchant,
  type WirePrepaidMerchant,
} from "../merchant.ts";
import { MAX_PREPAID_EPOCHS } from "../schedule.ts";
import { assertList, exactFields } from "./fields.ts";
import {
  assertMethod,
  assertTarget,
  findRoute,
  type MeteredRequest,
  type MeteredRoute,
  type ParsedRoute,
  parseRoute,
  routesOverlap,
} from "./route.ts";
import {
  assertMeteredRule,
  decodeMeteredRule,
  encodeMeteredRule,
  type MeteredRule,
  meteredRuleHash,
  type WireMeteredRule,
} from "./rule.ts";

/** Maximum number of routes in one statement of terms. */
export const MAX_METERED_ROUTES = 64;

/** A route with its rule. */
export interface MeteredRouteRule extends MeteredRoute {
  /** What its requests cost in every month of the terms. */
  readonly rule: MeteredRule;
}

/**
 * The statement that a merchant's wallet signs for its metered routes: what they cost in some months, and the keys that sign
 * receipts. In one month a request has one rule, so that every payer pays the same.
 */
export interface MeteredTerms extends PrepaidMerchant {
  /** The first epoch, such as "2026-12". */
  readonly firstEpoch: string;
  /** The Ed25519 receipt key of each epoch, 32 bytes as hex with 0x; 1 to 12. */
  readonly receiptKeys: readonly string[];
  /** 1 to 64. No request may belong to two of them, in any spelling: letter case is ignored, and `/files/*` includes `/files`. */
  readonly routes: readonly MeteredRouteRule[];
}

const NAME = "MeteredTerms";
const FIELDS: StructFields = [
  ...MERCHANT_FIELDS,
  { name: "firstEpoch", type: "string" },
  { name: "epochs", type: "uint64" },
  { name: "routes", type: "string" },
  { name: "receiptKeys", type: "bytes" },
];

function parseReceiptKeys(value: unknown): readonly string[] {
  const keys = assertList(value, 1, MAX_PREPAID_EPOCHS, "the receipt keys").map((key, i) =>
    assertEd25519Key(key, `receipt key ${i + 1}`),
  );
  if (new Set(keys).size !== keys.length) fail("INVALID_ARGUMENT", "two months must not have the same receipt key");
  return Object.freeze(keys);
}

/** The routes, and at the same places their parsed paths. */
function parseRoutes(value: unknown) {
  const routes: MeteredRouteRule[] = [];
  const parsed: ParsedRoute[] = [];
  for (const entry of assertList(value, 1, MAX_METERED_ROUTES, "the routes")) {
    const { method, path, rule } = exactFields(entry, ["method", "path", "rule"], "a route");
    const one = parseRoute(method, path);
    const other = routes[parsed.findIndex((earlier) => routesOverlap(earlier, one.parsed))];
    if (other !== undefined)
      fail(
        "INVALID_ARGUMENT",
        `${one.route.method} ${one.route.path} and ${other.path} match the same requests: paywalls ignore letter case, and /a/* includes /a; remove one`,
      );
    routes.push(Object.freeze({ ...one.route, rule: assertMeteredRule(rule) }));
    parsed.push(one.parsed);
  }
  return { routes: Object.freeze(routes), parsed };
}

/** What follows from terms, so that it is computed once. */
interface Derived {
  readonly epochs: readonly string[];
  /** At the places of `routes`. */
  readonly routes: readonly ParsedRoute[];
  digest?: Bytes32;
}

/** Terms that `assertMeteredTerms` returned. They are frozen, so they and what follows from them stay valid. */
const checked = new WeakMap<object, Derived>();

const derivedOf = (terms: MeteredTerms): Derived => checked.get(assertMeteredTerms(terms))!;

/**
 * Checks the form of terms. Returns them frozen; checking that object again costs nothing. Does not check the wallet's
 * signature.
 * @throws SottoError INVALID_ARGUMENT; the message names the field
 */
export function assertMeteredTerms(value: unknown): MeteredTerms {
  return recode("INVALID_ARGUMENT", "not terms of metered routes", () => {
    if (checked.has(value as object)) return value as MeteredTerms;
    assertObject(value, "the terms");
    const given = value as MeteredTerms;
    const merchant = merchantOf(given);
    const receiptKeys = parseReceiptKeys(given.receiptKeys);
    const epochs = Object.freeze(receiptKeys.map((_, i) => laterEpoch(given.firstEpoch, i)));
    const { routes, parsed } = parseRoutes(given.routes);
    const terms = Object.freeze({ ...merchant, firstEpoch: given.firstEpoch, receiptKeys, routes });
    checked.set(terms, { epochs, routes: parsed });
    return terms;
  });
}

/** The fields that the wallet shows and signs. The rule of a route is its cap and its hash. */
function structOf(value: MeteredTerms) {
  const { routes, receiptKeys, ...terms } = assertMeteredTerms(value);
  return {
    ...terms,
    epochs: receiptKeys.length,
    // No part of a route contains a space, so the text has one reading.
    routes: routes
      .map(({ method, path, rule }) => `${method} ${path} up to ${rule.cap}, rule ${meteredRuleHash(rule)}`)
      .join("; "),
    receiptKeys: `0x${receiptKeys.map((key) => key.slice(2)).join("")}`,
  };
}

/** The EIP-712 typed data of terms, for any wallet. @throws SottoError INVALID_ARGUMENT */
export const meteredTermsTypedData = (terms: MeteredTerms): TypedData => typedDataOf(NAME, FIELDS, structOf(terms));

/**
 * The second parameter of `eth_signTypedData_v4`: JSON with the domain's type.
 * @throws SottoError INVALID_ARGUMENT
 */
export const meteredTermsRequest = (terms: MeteredTerms): string => typedDataRequest(meteredTermsTypedData(terms));

/** The EIP-712 digest of terms. @throws SottoError INVALID_ARGUMENT */
export function meteredTermsDigest(terms: MeteredTerms): Bytes32 {
  const valid = assertMeteredTerms(terms);
  const derived = derivedOf(valid);
  derived.digest ??= structDigest(NAME, FIELDS, structOf(valid));
  return derived.digest;
}

/** Terms as JSON. They have no other fields. */
export interface WireMeteredTerms extends WirePrepaidMerchant {
  /** Such as "2026-12". */
  readonly firstEpoch: string;
  /** The Ed25519 receipt key of each epoch, 32 bytes as hex with 0x. */
  readonly receiptKeys: readonly string[];
  /** The routes with their rules. */
  readonly routes: readonly { readonly method: string; readonly path: string; readonly rule: WireMeteredRule }[];
}

/** Terms for JSON. @throws SottoError INVALID_ARGUMENT */
export function encodeMeteredTerms(terms: MeteredTerms): WireMeteredTerms {
  const valid = assertMeteredTerms(terms);
  const { firstEpoch, receiptKeys, routes } = valid;
  return {
    ...encodeMerchant(valid),
    firstEpoch,
    receiptKeys,
    routes: routes.map(({ method, path, rule }) => ({ method, path, rule: encodeMeteredRule(rule) })),
  };
}

const WIRE_FIELDS = [...MERCHANT_NAMES, "firstEpoch", "receiptKeys", "routes"] as const;

/**
 * Inverse of `encodeMeteredTerms`, for terms from another party. Does not check the wallet's signature.
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeMeteredTerms(wire: unknown): MeteredTerms {
  return recode("INVALID_ARGUMENT", "not terms of metered routes", () => {
    const field = exactFields(wire, WIRE_FIELDS, "the terms");
    return assertMeteredTerms({
      ...decodeMerchant(field),
      firstEpoch: assertText(field.firstEpoch, "firstEpoch"),
      receiptKeys: field.receiptKeys,
      routes: assertList(field.routes, 1, MAX_METERED_ROUTES, "the routes").map((entry) => {
        const { method, path, rule } = exactFields(entry, ["method", "path", "rule"], "a route");
        return { method, path, rule: decodeMeteredRule(rule) };
      }),
    });
  });
}

/** The epochs of terms, in order. @throws SottoError INVALID_ARGUMENT */
export const meteredEpochs = (terms: MeteredTerms): readonly string[] => derivedOf(terms).epochs;

/**
 * The key that signs the receipts of an epoch; undefined if the terms do not include it.
 * @param epoch such as "2026-12"
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING
 */
export function receiptKeyOfEpoch(terms: MeteredTerms, epoch: string): string | undefined {
  const position = meteredEpochs(terms).indexOf(laterEpoch(epoch, 0));
  return position < 0 ? undefined : terms.receiptKeys[position];
}

/**
 * The rule of a request; undefined if it belongs to no route of the terms. HEAD counts as GET. Paths are compared as they are
 * written.
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING
 */
export function ruleOfRequest(terms: MeteredTerms, request: MeteredRequest): MeteredRule | undefined {
  const valid = assertMeteredTerms(terms);
  assertObject(request, "a request");
  const found = { method: assertMethod(request.method), target: assertTarget(request.target) };
  return valid.routes[findRoute(derivedOf(valid).routes, found)]?.rule;
}

/** A month in which two terms of one merchant contradict each other. */
export interface TermsConflict {
  /** The first such month. */
  readonly epoch: string;
  /** The route of each of the two terms, if they have different rules for the same requests; undefined if they name different receipt keys. */
  readonly routes?: readonly [MeteredRouteRule, MeteredRouteRule] | undefined;
}

/**
 * Finds a month for which two terms of the same merchant and deployment have different rules for the same requests, or different
 * receipt keys. A merchant that signs both contradicts itself, so check new terms against those of before. Requests are compared as
 * in one statement: letter case is ignored, and `/files/*` includes `/files`.
 * @returns undefined if there is none, or if the terms are of two merchants or deployments
 * @throws SottoError INVALID_ARGUMENT
 */
export function termsConflict(one: MeteredTerms, other: MeteredTerms): TermsConflict | undefined {
  const [a, b] = [assertMeteredTerms(one), assertMeteredTerms(other)];
  const [mine, theirs] = [derivedOf(a), derivedOf(b)];
  // First the times, which cost little: most terms are of other months.
  const common = mine.epochs.filter((each) => theirs.epochs.includes(each));
  const [epoch] = common;
  if (epoch === undefined || !isSameMerchant(a, b)) return undefined;
  for (const [i, first] of a.routes.entries())
    for (const [j, second] of b.routes.entries())
      if (
        meteredRuleHash(first.rule) !== meteredRuleHash(second.rule) &&
        routesOverlap(mine.routes[i]!, theirs.routes[j]!)
      )
        return { epoch, routes: [first, second] };
  const differing = common.find((each) => receiptKeyOfEpoch(a, each) !== receiptKeyOfEpoch(b, each));
  return differing === undefined ? undefined : { epoch: differing };
}
