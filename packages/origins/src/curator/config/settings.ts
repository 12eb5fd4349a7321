import { CHAIN_SETTINGS, type Parse, parse, SERVER_SETTINGS, type SettingValues, setting } from "@sotto/server";
import { SLOT_SECONDS } from "../../core/head.ts";
import { parseSetName } from "../../core/set.ts";

const { address, httpUrl, integer, list, oneOf, privateKey, sharedSecret, storeUrl, text, wrong } = parse;

const setName: Parse<string> = (value) => {
  try {
    return parseSetName(value);
  } catch {
    return wrong("1 to 32 lower-case letters, digits and hyphens, a letter or digit first");
  }
};

/** All settings of a curator. */
export const CURATOR_SETTINGS = {
  ...SERVER_SETTINGS,
  port: setting("SOTTO_PORT", integer(0, 65535), "8404", "port to listen on; 0 for any free port"),
  basePath: setting(
    "SOTTO_BASE_PATH",
    parse.basePath,
    "/origins",
    "base path of the files and of claims; / for no path",
  ),
  publicUrl: setting(
    "SOTTO_PUBLIC_URL",
    parse.publicUrl,
    undefined,
    "base URL at which readers find the files; at the start, the curator compares its database with the head that it shows",
  ),
  ...CHAIN_SETTINGS,
  deploymentBlock: setting(
    "SOTTO_DEPLOYMENT_BLOCK",
    integer(0),
    "0",
    "block of the pool's deployment, from which its events are read",
  ),
  confirmations: setting(
    "SOTTO_CONFIRMATIONS",
    integer(1, 1_000),
    undefined,
    "blocks until an event counts, including its own; default 2, on a local chain 1",
  ),
  pollMs: setting(
    "SOTTO_POLL_MS",
    integer(10, 60_000),
    undefined,
    "interval between reads of the chain; default 2000, on a local chain 250",
  ),
  artifacts: setting(
    "SOTTO_ARTIFACTS",
    text,
    "circuits/build",
    "folder of the circuits' artifacts, with ceremony sets in its subfolders ceremony/NAME; the curator reads the verification key of `origin`",
  ),
  artifactSet: setting(
    "SOTTO_ARTIFACT_SET",
    text,
    "development",
    "artifact set of the pool's verifiers: development, or ceremony/NAME",
  ),
  workers: setting(
    "SOTTO_VERIFY_WORKERS",
    integer(1, 64),
    undefined,
    "threads that verify the proofs of claims; default one per processor core",
  ),

  originName: setting("SOTTO_ORIGIN_NAME", setName, undefined, "name of the set; heads are signed with it"),
  originKey: setting(
    "SOTTO_ORIGIN_KEY",
    privateKey,
    undefined,
    "private key with which the curator signs heads: 32 bytes as hex with 0x",
    true,
  ),
  originStore: setting(
    "SOTTO_ORIGIN_STORE",
    storeUrl,
    "sqlite:.sotto/curator.sqlite",
    "the curator's database: sqlite:PATH, or postgres://.. for several replicas",
    true,
  ),
  originFolder: setting(
    "SOTTO_ORIGIN_FOLDER",
    text,
    ".sotto/origins",
    "folder of the published files, which any web server may serve as well",
  ),
  originMirrors: setting(
    "SOTTO_ORIGIN_MIRRORS",
    list(httpUrl),
    "",
    "base URLs of mirrors of the set, comma-separated; the curator compares its database with the heads that they show",
  ),
  originSlotSeconds: setting(
    "SOTTO_ORIGIN_SLOT_SECONDS",
    integer(1, 3_600),
    String(SLOT_SECONDS),
    "at most one head is signed in this time; a multiple of 60, on a local chain any",
  ),
  originDescription: setting("SOTTO_ORIGIN_DESCRIPTION", text, "", "the curator's own words in the policy"),
  originDelaySeconds: setting(
    "SOTTO_ORIGIN_DELAY_SECONDS",
    integer(0, 365 * 86_400),
    undefined,
    "time after its block before a deposit may be accepted; this is what protects: see docs/origins.md; required, on a local chain 0",
  ),
  originDenyList: setting(
    "SOTTO_ORIGIN_DENY_LIST",
    text,
    undefined,
    "file or URL of addresses, one a line: deposits of these accounts are refused",
  ),
  originAllowList: setting(
    "SOTTO_ORIGIN_ALLOW_LIST",
    text,
    undefined,
    "file or URL of addresses, one a line: deposits of all other accounts are refused",
  ),
  originListSeconds: setting("SOTTO_ORIGIN_LIST_SECONDS", integer(1, 86_400), "60", "how often the lists are read"),
  originOracle: setting(
    "SOTTO_ORIGIN_ORACLE",
    address,
    undefined,
    "contract with isSanctioned(address): deposits of accounts for which it answers true are refused",
  ),
  originWebhookUrl: setting(
    "SOTTO_ORIGIN_WEBHOOK_URL",
    httpUrl,
    undefined,
    "program of yours that is asked about each deposit; without an answer in time, the deposit waits",
    true,
  ),
  originWebhookSecret: setting(
    "SOTTO_ORIGIN_WEBHOOK_SECRET",
    sharedSecret,
    undefined,
    "shared with the webhook, which authenticates the curator with it",
    true,
  ),
  originWebhookTimeoutMs: setting(
    "SOTTO_ORIGIN_WEBHOOK_TIMEOUT_MS",
    integer(100, 60_000),
    "10000",
    "time that the webhook has to answer",
  ),
  originWebhookSeconds: setting(
    "SOTTO_ORIGIN_WEBHOOK_SECONDS",
    integer(1, 86_400),
    "60",
    "when the webhook is asked again about a deposit that waits",
  ),
  originPerson: setting(
    "SOTTO_ORIGIN_PERSON",
    oneOf("on", "off"),
    "off",
    "on: each deposit waits until a person accepts it with sotto-curator accept LEAF",
  ),
} as const;

/** The parsed settings of a curator. */
export type CuratorSettings = SettingValues<typeof CURATOR_SETTINGS>;
