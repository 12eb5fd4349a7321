import {
  BINDING_LIFETIME_SECONDS,
  BINDING_SLOT_SECONDS,
  decodeShieldedAddress,
  networksOf,
  normalizeSignature,
  ProtocolError,
  parseAddress,
} from "@sotto/protocol";
import { type App, BODY_CODES, errorResponses, ROUTE_CODES, SERVER_ERRORS } from "@sotto/server";
import type { FastifyRequest } from "fastify";
import { PHONE_ROUTE_ERRORS } from "../error-definitions.ts";
import { PhoneError } from "../errors.ts";
import type { PhoneRegistry } from "../registry/phone-registry.ts";
import type { AssertLookup } from "../signatures/lookups.ts";
import { type CountryCode, parseNumber } from "./numbers.ts";
import { padded } from "./padding.ts";
import { linkResponse, mappingResponse, provenResponse } from "./responses.ts";
import {
  LinkBody,
  LinkResponse,
  LookupHeaders,
  MappingResponse,
  PhoneParams,
  RegistryResponse,
  UnlinkBody,
  UnlinkResponse,
  VerifyBody,
  VerifyResponse,
} from "./schemas.ts";

export interface PhoneRoutes {
  readonly registry: Pick<PhoneRegistry, "link" | "verify" | "resolve" | "unlink">;
  /** Undefined if lookups need no signature. */
  readonly assertLookup: AssertLookup | undefined;
  readonly domain: { readonly chainId: bigint; readonly pool: string; readonly service: string };
  readonly unverified: "show" | "hide";
  /** The country of numbers without a country code. */
  readonly defaultCountry: CountryCode | undefined;
  /** Countries whose numbers may be linked; undefined: all. */
  readonly countries: readonly CountryCode[] | undefined;
}

const tags = ["phone"];
const ERRORS = { ...SERVER_ERRORS, ...PHONE_ROUTE_ERRORS };
/** Codes of the number, the database and the chain. */
const PHONE_CODES = [
  "INVALID_PHONE_NUMBER",
  "AMBIGUOUS_PHONE_NUMBER",
  "STORE_UNAVAILABLE",
  "CHAIN_UNAVAILABLE",
  "REGISTRY_CLOSED",
] as const;
/** Codes of a wallet's signature. */
const SIGNATURE_CODES = [
  "BINDING_INVALID",
  "BINDING_SIGNATURE_INVALID",
  "SIGNATURE_INVALID",
  "BINDING_STALE",
  "BINDING_FROM_THE_FUTURE",
  "SIGNATURE_REPLAYED",
  "LINK_OUTDATED",
  "CONTRACT_CHECKS_LIMITED",
] as const;
const refused = (...codes: readonly (keyof typeof ERRORS)[]) =>
  errorResponses(ERRORS, ...BODY_CODES, ...PHONE_CODES, "INVALID_ADDRESS", ...codes);
const LINK_ERRORS = refused("INVALID_SHIELDED_ADDRESS", "NUMBER_NOT_SERVED", "CODES_LIMITED", ...SIGNATURE_CODES);
const VERIFY_ERRORS = refused("LINK_OUTDATED", "CODE_WRONG", "CODE_EXPIRED", "CODE_EXHAUSTED", "CODES_LIMITED");
const UNLINK_ERRORS = refused("NOT_LINKED", ...SIGNATURE_CODES);
const RESOLVE_ERRORS = errorResponses(
  ERRORS,
  "INVALID_REQUEST",
  "METHOD_NOT_ALLOWED",
  ...PHONE_CODES,
  "UNKNOWN_NUMBER",
  "LOOKUP_SIGNATURE_REQUIRED",
  "SIGNATURE_INVALID",
  "NONCE_REFUSED",
  "LOOKUPS_LIMITED",
  "CONTRACT_CHECKS_LIMITED",
  ...ROUTE_CODES,
);
/** The networks for which quotas count, the smallest first. The registry stores keyed pseudonyms of them. */
const clientOf = ({ ip }: FastifyRequest): string => networksOf(ip).join(",");

/** Caches must not store anything about a number. */
const PRIVATE = { "cache-control": "no-store" } as const;

/** @throws SottoError INVALID_SHIELDED_ADDRESS */
function assertShieldedAddress(key: string): void {
  if (!/^0x[0-9a-f]{128}$/.test(key))
    throw new ProtocolError(
      "INVALID_SHIELDED_ADDRESS",
      "encryptionPublicKey must be a shielded address: 0x and 128 lower-case hex digits, the packed encryption key and " +
        `the owner tag of a sotto wallet, not an account's key; got ${key.length} characters. \`sotto address\` prints ` +
        "a wallet's, as does wallet.shieldedAddress of @sotto/wallet",
    );
  decodeShieldedAddress(key);
}

/** Registers the registry's endpoints. */
export function phoneRoutes(app: App, services: PhoneRoutes): void {
  linkRoutes(app, services);
  resolveRoutes(app, services);
}

function linkRoutes(app: App, { registry, defaultCountry, countries }: PhoneRoutes): void {
  app.post(
    "/phone/link",
    {
      schema: {
        tags,
        summary: "Link a phone number to a wallet; repeating the request sends another code",
        body: LinkBody,
        response: { 200: LinkResponse, ...LINK_ERRORS },
      },
    },
    async (request, reply) => {
      const { phoneNumber, walletAddress, encryptionPublicKey, signature, issuedAt } = request.body;
      const { number: phone, country, servable } = parseNumber(phoneNumber, defaultCountry);
      if (!servable || (countries !== undefined && (country === undefined || !countries.includes(country))))
        throw new PhoneError("NUMBER_NOT_SERVED", "numbers of this kind or country cannot be linked here");
      const wallet = parseAddress(walletAddress, "walletAddress");
      assertShieldedAddress(encryptionPublicKey);
      const result = await registry.link({
        phone,
        wallet,
        key: encryptionPublicKey,
        signature: normalizeSignature(signature),
        issuedAt,
        client: clientOf(request),
      });
      reply.headers(PRIVATE);
      return linkResponse(result);
    },
  );
  app.post(
    "/phone/verify",
    {
      schema: {
        tags,
        summary: "Prove the number with the code that was sent to it",
        body: VerifyBody,
        response: { 200: VerifyResponse, ...VERIFY_ERRORS },
      },
    },
    async (request, reply) => {
      const { phoneNumber, walletAddress, code } = request.body;
      const { number: phone } = parseNumber(phoneNumber, defaultCountry);
      const wallet = parseAddress(walletAddress, "walletAddress");
      const result = await registry.verify({ phone, wallet, code, client: clientOf(request) });
      reply.headers(PRIVATE);
      return provenResponse(result);
    },
  );
  app.post(
    "/phone/unlink",
    {
      schema: {
        tags,
        summary: "Delete a link, verified or not",
        body: UnlinkBody,
        response: { 200: UnlinkResponse, ...UNLINK_ERRORS },
      },
    },
    async (request, reply) => {
      const { phoneNumber, walletAddress, signature, issuedAt } = request.body;
      const { number: phone } = parseNumber(phoneNumber, defaultCountry);
      const wallet = parseAddress(walletAddress, "walletAddress");
      const signed = { phone, wallet, signature: normalizeSignature(signature), issuedAt };
      await registry.unlink({ ...signed, client: clientOf(request) });
      reply.headers(PRIVATE);
      return { unlinked: true };
    },
  );
}

function resolveRoutes(app: App, services: PhoneRoutes): void {
  const { registry, assertLookup, defaultCountry, domain, unverified } = services;
  app.get(
    "/phone/resolve/:phone",
    {
      schema: {
        tags,
        summary: "Resolve a phone number to a wallet and its shielded address",
        params: PhoneParams,
        headers: LookupHeaders,
        response: { 200: MappingResponse, ...RESOLVE_ERRORS },
      },
      onSend: async (_request, reply, payload) =>
        typeof payload === "string" ? padded(payload, reply.statusCode) : payload,
    },
    async (request, reply) => {
      const { number: phone } = parseNumber(request.params.phone, defaultCountry);
      const client = clientOf(request);
      const caller = await assertLookup?.(phone, request.headers, client);
      const found = await registry.resolve({ phone, client, caller });
      if (found === undefined) throw new PhoneError("UNKNOWN_NUMBER", "this number is not linked to a wallet");
      reply.headers(PRIVATE);
      return mappingResponse(found);
    },
  );
  const facts = {
    service: domain.service,
    chainId: String(domain.chainId),
    pool: domain.pool,
    signedLookups: assertLookup !== undefined,
    unverified,
    slotSeconds: BINDING_SLOT_SECONDS,
    lifetimeSeconds: BINDING_LIFETIME_SECONDS,
  };
  app.get(
    "/phone",
    { schema: { tags, summary: "The values that wallets sign", response: { 200: RegistryResponse } } },
    async () => facts,
  );
}
