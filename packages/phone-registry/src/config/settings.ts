import { CHAIN_SETTINGS, parse, SERVER_SETTINGS, type SettingValues, setting } from "@sotto/server";
import { DEFAULT_LIMITS } from "../registry/limits.ts";
import { country, keyRing, rates, secret, showRates, url } from "./parse.ts";

const { integer, list, oneOf, storeUrl, text } = parse;
const { codes, linkedPercent, tries, lookups, rangeDigits, pendingSeconds, auditSeconds } = DEFAULT_LIMITS;

/** The registry's own; where a server mounts it they stand beside that server's. */
export const PHONE_SETTINGS = {
  phoneStore: setting(
    "SOTTO_PHONE_STORE",
    storeUrl,
    "sqlite:.sotto/phone.sqlite",
    "the registry's database: sqlite:PATH, or postgres://.. for several replicas",
    true,
  ),
  phoneMasterKeys: setting(
    "SOTTO_PHONE_MASTER_KEYS",
    keyRing,
    undefined,
    "keys that wrap the records' keys: ID:HEX, comma-separated, the current one first; required",
    true,
  ),
  phoneIndexKeys: setting(
    "SOTTO_PHONE_INDEX_KEYS",
    keyRing,
    undefined,
    "keys under which numbers are found: ID:HEX, comma-separated, the current one first; required",
    true,
  ),
  phoneKeys: setting(
    "SOTTO_PHONE_KEYS",
    text,
    ".sotto/phone-keys.json",
    "local chains only: file of the keys that are made where none are given",
  ),
  phoneSender: setting(
    "SOTTO_PHONE_SENDER",
    oneOf("webhook", "file", "log"),
    "webhook",
    "how codes reach their numbers; file and log are refused off local chains and where NODE_ENV is production",
  ),
  phoneWebhookUrl: setting("SOTTO_PHONE_WEBHOOK_URL", url, undefined, "where codes are posted to, https", true),
  phoneWebhookSecret: setting(
    "SOTTO_PHONE_WEBHOOK_SECRET",
    secret,
    undefined,
    "key of the HMAC that the webhook checks, 32 characters or more",
    true,
  ),
  phoneWebhookTimeoutMs: setting("SOTTO_PHONE_WEBHOOK_TIMEOUT_MS", integer(100, 30_000), "3000", "for one try"),
  phoneWebhookTries: setting("SOTTO_PHONE_WEBHOOK_TRIES", integer(1, 5), "3", "tries to hand over one code"),
  phoneCodeFile: setting("SOTTO_PHONE_CODE_FILE", text, ".sotto/phone-codes.jsonl", "where the sender file writes"),
  phoneDefaultCountry: setting(
    "SOTTO_PHONE_DEFAULT_COUNTRY",
    country,
    undefined,
    "country of numbers in local form, like DE; left out: only international ones are understood",
  ),
  phoneCountries: setting(
    "SOTTO_PHONE_COUNTRIES",
    list(country),
    "",
    "countries whose numbers may be linked, comma-separated; empty: all",
  ),
  phoneUnverified: setting(
    "SOTTO_PHONE_UNVERIFIED",
    oneOf("show", "hide"),
    "show",
    "what resolve does with a number that nobody has proven: show it with verified false, or 404",
  ),
  phoneSignedLookups: setting(
    "SOTTO_PHONE_SIGNED_LOOKUPS",
    oneOf("on", "off"),
    "off",
    "on: resolve asks for a wallet's signature over each lookup",
  ),
  phoneCodesNumber: setting(
    "SOTTO_PHONE_CODES_NUMBER",
    rates,
    showRates(codes.number),
    "codes sent to one number for wallets that it is not linked to",
  ),
  phoneCodesLinked: setting(
    "SOTTO_PHONE_CODES_LINKED",
    rates,
    showRates(codes.linked),
    "codes sent to one number for the wallet that it is linked to, beside those of all others",
  ),
  phoneCodesWallet: setting("SOTTO_PHONE_CODES_WALLET", rates, showRates(codes.wallet), "codes sent for one wallet"),
  phoneCodesClient: setting("SOTTO_PHONE_CODES_CLIENT", rates, showRates(codes.client), "codes one address asks for"),
  phoneCodesTotal: setting(
    "SOTTO_PHONE_CODES_TOTAL",
    rates,
    showRates(codes.total),
    "codes sent in all, to whichever number: what they may cost",
  ),
  phoneLinkedPercent: setting(
    "SOTTO_PHONE_LINKED_PERCENT",
    integer(0, 90),
    String(linkedPercent),
    "percent of SOTTO_PHONE_CODES_TOTAL that is kept for wallets whose number is linked",
  ),
  phoneTriesClient: setting("SOTTO_PHONE_TRIES_CLIENT", rates, showRates(tries.client), "codes one address tries"),
  phoneLookupsClient: setting(
    "SOTTO_PHONE_LOOKUPS_CLIENT",
    rates,
    showRates(lookups.client),
    "unknown numbers that one address looks up",
  ),
  phoneLookupsCaller: setting(
    "SOTTO_PHONE_LOOKUPS_CALLER",
    rates,
    showRates(lookups.caller),
    "unknown numbers that one wallet looks up, if lookups are signed",
  ),
  phoneLookupsRange: setting(
    "SOTTO_PHONE_LOOKUPS_RANGE",
    rates,
    showRates(lookups.range),
    "unknown numbers in one range, looked up by everybody together",
  ),
  phoneLookupsClientRange: setting(
    "SOTTO_PHONE_LOOKUPS_CLIENT_RANGE",
    rates,
    showRates(lookups.clientRange),
    "unknown numbers in one range, looked up by one address, or by one wallet if lookups are signed",
  ),
  phoneRangeDigits: setting(
    "SOTTO_PHONE_RANGE_DIGITS",
    integer(1, 6),
    String(rangeDigits),
    "numbers that differ in so many last digits only are one range",
  ),
  phonePendingSeconds: setting(
    "SOTTO_PHONE_PENDING_SECONDS",
    integer(300, 30 * 86_400),
    String(pendingSeconds),
    "how long a link waits for the number to be proven",
  ),
  phoneAuditSeconds: setting(
    "SOTTO_PHONE_AUDIT_SECONDS",
    integer(60),
    String(auditSeconds),
    "how long the audit log is kept",
  ),
  phoneContractChecks: setting(
    "SOTTO_PHONE_CONTRACT_CHECKS",
    integer(0, 100_000),
    "60",
    "questions to the chain about contract wallets' signatures that one address may cause an hour, for each replica",
  ),
} as const;

export type PhoneSettings = SettingValues<typeof PHONE_SETTINGS>;

/** Beside them, of a registry that runs alone. */
export const REGISTRY_SETTINGS = {
  ...SERVER_SETTINGS,
  port: setting("SOTTO_PORT", integer(0, 65535), "8403", "port to listen on, 0 for any free one"),
  ...CHAIN_SETTINGS,
  ...PHONE_SETTINGS,
} as const;
