import { CHAIN_SETTINGS, live, parse, SERVER_SETTINGS, type SettingValues, setting } from "@sotto/server";
import { DEFAULT_LIMITS } from "../registry/limits.ts";
import { country, keyRing, rates, showRates, url } from "./parse.ts";

const { integer, list, oneOf, sharedSecret, storeUrl, text } = parse;
const { codes, linkedPercent, tries, lookups, rangeDigits, pendingSeconds, auditSeconds } = DEFAULT_LIMITS;

/** The registry's own settings. A server that mounts the registry has them in addition to its own. */
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
    "master keys, which encrypt the records' keys: ID:HEX, comma-separated, the current one first; required",
    true,
  ),
  phoneIndexKeys: setting(
    "SOTTO_PHONE_INDEX_KEYS",
    keyRing,
    undefined,
    "index keys, under which numbers are found: ID:HEX, comma-separated, the current one first; required",
    true,
  ),
  phoneKeys: setting(
    "SOTTO_PHONE_KEYS",
    text,
    ".sotto/phone-keys.json",
    "file of the keys that are created on a local chain if none are configured",
  ),
  phoneSender: setting(
    "SOTTO_PHONE_SENDER",
    oneOf("webhook", "file", "log"),
    "webhook",
    "how codes are sent; file and log are allowed only on a local chain and if NODE_ENV is not production",
  ),
  phoneWebhookUrl: setting("SOTTO_PHONE_WEBHOOK_URL", url, undefined, "https URL that codes are posted to", true),
  phoneWebhookSecret: setting(
    "SOTTO_PHONE_WEBHOOK_SECRET",
    sharedSecret,
    undefined,
    "key of the HMAC that the webhook checks, at least 32 characters",
    true,
  ),
  phoneWebhookTimeoutMs: setting(
    "SOTTO_PHONE_WEBHOOK_TIMEOUT_MS",
    integer(100, 30_000),
    "3000",
    "timeout of one attempt",
  ),
  phoneWebhookTries: setting("SOTTO_PHONE_WEBHOOK_TRIES", integer(1, 5), "3", "maximum attempts to send one code"),
  phoneCodeFile: setting(
    "SOTTO_PHONE_CODE_FILE",
    text,
    ".sotto/phone-codes.jsonl",
    "file that the sender file writes to",
  ),
  phoneDefaultCountry: setting(
    "SOTTO_PHONE_DEFAULT_COUNTRY",
    country,
    undefined,
    "country of numbers in local form, like DE; by default only international numbers are accepted",
  ),
  phoneCountries: setting(
    "SOTTO_PHONE_COUNTRIES",
    list(country),
    "",
    "countries whose numbers may be linked, comma-separated; empty for all",
  ),
  phoneUnverified: setting(
    "SOTTO_PHONE_UNVERIFIED",
    oneOf("show", "hide"),
    "show",
    "how resolve answers an unverified number: show it with verified false, or hide it with 404",
  ),
  phoneSignedLookups: setting(
    "SOTTO_PHONE_SIGNED_LOOKUPS",
    oneOf("on", "off"),
    "off",
    "on: resolve requires a wallet's signature over each lookup",
  ),
  phoneCodesNumber: live(
    setting(
      "SOTTO_PHONE_CODES_NUMBER",
      rates,
      showRates(codes.number),
      "codes to one number, for wallets that it is not linked to",
    ),
  ),
  phoneCodesLinked: live(
    setting(
      "SOTTO_PHONE_CODES_LINKED",
      rates,
      showRates(codes.linked),
      "codes to one number, for the wallet that it is linked to",
    ),
  ),
  phoneCodesWallet: live(setting("SOTTO_PHONE_CODES_WALLET", rates, showRates(codes.wallet), "codes for one wallet")),
  phoneCodesClient: live(
    setting("SOTTO_PHONE_CODES_CLIENT", rates, showRates(codes.client), "codes that one network address requests"),
  ),
  phoneCodesTotal: live(
    setting("SOTTO_PHONE_CODES_TOTAL", rates, showRates(codes.total), "all codes together, which limits their cost"),
  ),
  phoneLinkedPercent: live(
    setting(
      "SOTTO_PHONE_LINKED_PERCENT",
      integer(0, 90),
      String(linkedPercent),
      "percent of SOTTO_PHONE_CODES_TOTAL that is reserved for wallets whose number is linked",
    ),
  ),
  phoneTriesClient: live(
    setting(
      "SOTTO_PHONE_TRIES_CLIENT",
      rates,
      showRates(tries.client),
      "codes tried, links renewed and links deleted by one network address",
    ),
  ),
  phoneLookupsClient: live(
    setting(
      "SOTTO_PHONE_LOOKUPS_CLIENT",
      rates,
      showRates(lookups.client),
      "unknown numbers that one network address looks up",
    ),
  ),
  phoneLookupsCaller: live(
    setting(
      "SOTTO_PHONE_LOOKUPS_CALLER",
      rates,
      showRates(lookups.caller),
      "unknown numbers that one wallet looks up, if lookups are signed",
    ),
  ),
  phoneLookupsRange: live(
    setting(
      "SOTTO_PHONE_LOOKUPS_RANGE",
      rates,
      showRates(lookups.range),
      "unknown numbers in one range, looked up by all clients together",
    ),
  ),
  phoneLookupsClientRange: live(
    setting(
      "SOTTO_PHONE_LOOKUPS_CLIENT_RANGE",
      rates,
      showRates(lookups.clientRange),
      "unknown numbers in one range, looked up by one network address, or by one wallet if lookups are signed",
    ),
  ),
  phoneRangeDigits: setting(
    "SOTTO_PHONE_RANGE_DIGITS",
    integer(1, 6),
    String(rangeDigits),
    "a range consists of the numbers that differ only in this many last digits",
  ),
  phonePendingSeconds: setting(
    "SOTTO_PHONE_PENDING_SECONDS",
    integer(300, 30 * 86_400),
    String(pendingSeconds),
    "how long an unverified link is kept",
  ),
  phoneAuditSeconds: setting(
    "SOTTO_PHONE_AUDIT_SECONDS",
    integer(60),
    String(auditSeconds),
    "how long the audit log is kept",
  ),
  phoneContractChecks: live(
    setting(
      "SOTTO_PHONE_CONTRACT_CHECKS",
      integer(0, 100_000),
      "60",
      "checks of contract wallets' signatures per network address and hour, per replica",
    ),
  ),
} as const;

/** The parsed settings of a registry. */
export type PhoneSettings = SettingValues<typeof PHONE_SETTINGS>;

/** All settings of a registry that runs as its own server. */
export const REGISTRY_SETTINGS = {
  ...SERVER_SETTINGS,
  port: setting("SOTTO_PORT", integer(0, 65535), "8403", "port to listen on; 0 for any free port"),
  ...CHAIN_SETTINGS,
  ...PHONE_SETTINGS,
} as const;
