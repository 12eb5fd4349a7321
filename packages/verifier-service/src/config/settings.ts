import { readFileSync } from "node:fs";
import {
  CHAIN_SETTINGS,
  live,
  type Parse,
  parse,
  SERVER_SETTINGS,
  type ServiceExtension,
  type SettingTable,
  type SettingValues,
  setting,
  settingsTable as tableOf,
} from "@sotto/server";

const {
  address,
  httpUrl,
  integer,
  list,
  oneOf,
  privateKey,
  sharedSecret,
  shieldedAddress,
  storeUrl,
  text,
  wholeNumber,
} = parse;
const DAY_SECONDS = 86_400;
/** Maximum size of a PEM file: a certificate with its chain has a few KiB. */
const MAX_PEM_BYTES = 1 << 20;

/** Private keys, separated by commas or, as in a file, by line ends. */
const privateKeys: Parse<readonly string[]> = (value) => list(privateKey)(value.replaceAll(/\s+/g, ","));

/** The path of a PEM file. @returns its text */
const pemFile: Parse<string> = (path) => {
  let found: Buffer;
  try {
    found = readFileSync(path);
  } catch {
    throw new Error("names a file that cannot be read");
  }
  const pem = found.length <= MAX_PEM_BYTES ? found.toString("utf8") : "";
  if (!pem.includes("-----BEGIN ")) throw new Error("must name a PEM file of at most 1 MiB");
  return pem;
};

/** Required settings have no default; config.ts checks them. */
export const SETTINGS = {
  ...SERVER_SETTINGS,

  ...CHAIN_SETTINGS,
  deploymentBlock: setting(
    "SOTTO_DEPLOYMENT_BLOCK",
    integer(0),
    "0",
    "block of the pool's deployment, from which its events are read",
  ),
  confirmations: setting(
    "SOTTO_CONFIRMATIONS",
    integer(1, 60),
    undefined,
    "blocks until a payment is settled, including its own; default 2, on a local chain 1",
  ),
  blockTimeMs: setting(
    "SOTTO_BLOCK_TIME_MS",
    integer(100, 60_000),
    undefined,
    "the chain's block time; multiplied by the confirmations at most 60 s; default 12000, on a local chain 1000",
  ),
  maxHeadAgeMs: live(
    setting(
      "SOTTO_MAX_HEAD_AGE_MS",
      integer(0, 3_600_000),
      undefined,
      "maximum age of the newest block; if it is older, payments are refused and the service is not ready; 0 allows any age; default five block times and at least 60 s, on a local chain 0",
    ),
  ),
  pollMs: setting(
    "SOTTO_POLL_MS",
    integer(10, 60_000),
    undefined,
    "interval between reads of the chain; default 1000, on a local chain 250",
  ),

  relayerKeys: setting(
    "SOTTO_RELAYER_KEY",
    privateKeys,
    "",
    "private key of the account that pays the gas, or of several, comma-separated; required, unless a remote signer has it",
    true,
  ),
  signerUrl: setting(
    "SOTTO_SIGNER_URL",
    httpUrl,
    undefined,
    "URL of a remote signer that has keys of accounts, like Web3Signer in its mode eth1; a user and password in it are sent as basic authentication",
    true,
  ),
  signerAccounts: setting(
    "SOTTO_SIGNER_ACCOUNTS",
    list(address),
    "",
    "addresses of the accounts that the remote signer signs for, comma-separated",
  ),
  drainingAccounts: setting(
    "SOTTO_DRAINING_ACCOUNTS",
    list(address),
    "",
    "addresses of accounts that send nothing new, because they are about to be removed; comma-separated",
  ),
  signerTimeoutMs: setting(
    "SOTTO_SIGNER_TIMEOUT_MS",
    integer(100, 60_000),
    "5000",
    "timeout of one request to the remote signer",
  ),
  signerCa: setting(
    "SOTTO_SIGNER_CA_FILE",
    pemFile,
    undefined,
    "PEM file of the certificates that the remote signer's certificate is checked with; default: the system's",
  ),
  signerCertificate: setting(
    "SOTTO_SIGNER_CERTIFICATE_FILE",
    pemFile,
    undefined,
    "PEM file of the certificate, with its chain, that the service shows to the remote signer",
  ),
  signerCertificateKey: setting(
    "SOTTO_SIGNER_KEY_FILE",
    pemFile,
    undefined,
    "PEM file of the private key of SOTTO_SIGNER_CERTIFICATE_FILE",
  ),
  clientSecret: setting(
    "SOTTO_CLIENT_SECRET",
    sharedSecret,
    undefined,
    "secret, the same on all replicas, under which the addresses of clients are hashed for their quotas, at least 32 characters; default: the first key of SOTTO_RELAYER_KEY; required without it",
    true,
  ),
  maxFeePerGas: live(
    setting(
      "SOTTO_MAX_FEE_PER_GAS",
      wholeNumber,
      undefined,
      "maximum fee per gas, wei; default: ten times the price of the last blocks, updated every hour",
    ),
  ),
  maxPriorityFeePerGas: live(
    setting(
      "SOTTO_MAX_PRIORITY_FEE_PER_GAS",
      wholeNumber,
      undefined,
      "maximum priority fee per gas, wei; default: three times what the last blocks paid or the node suggests",
    ),
  ),
  gasBudget: live(
    setting(
      "SOTTO_GAS_BUDGET",
      wholeNumber,
      "1000000000000000000",
      "maximum wei that the relayer spends per day (UTC), with all accounts together",
    ),
  ),
  leastBalance: live(
    setting(
      "SOTTO_LEAST_BALANCE",
      wholeNumber,
      "10000000000000000",
      "balance in wei below which an account counts as empty; the service is not ready if all are empty",
    ),
  ),
  appendAfterMs: setting(
    "SOTTO_APPEND_AFTER_MS",
    integer(0, 600_000),
    undefined,
    "age of the oldest queued note at which the relayer appends the queue to the tree; default 30000, on a local chain 0",
  ),
  settleWaitMs: live(
    setting(
      "SOTTO_SETTLE_WAIT_MS",
      integer(0, 120_000),
      undefined,
      "time after which a request for a settlement gets the answer pending; default: a payment waits until its outcome is known, a deposit or withdrawal for its confirmations and two blocks, at least 10 s",
    ),
  ),
  maxHeld: live(
    setting(
      "SOTTO_MAX_HELD",
      integer(1, 100_000),
      "2000",
      "maximum requests that wait for settlements at once, per replica; one address may have half of them",
    ),
  ),

  store: setting(
    "SOTTO_STORE",
    storeUrl,
    "sqlite:.sotto/service.sqlite",
    "sqlite:PATH, or postgres://.. for several replicas",
    true,
  ),
  artifacts: setting(
    "SOTTO_ARTIFACTS",
    text,
    "circuits/build",
    "folder of the circuits' artifacts, with ceremony sets in its subfolders ceremony/NAME",
  ),
  artifactSet: setting(
    "SOTTO_ARTIFACT_SET",
    text,
    "development",
    "artifact set of the pool's verifiers: development, or ceremony/NAME",
  ),
  otherKeys: setting(
    "SOTTO_OTHER_KEYS",
    list(text),
    "",
    "folders with verification keys of retired artifact sets, to recognize proofs made with them",
  ),
  tokenKeys: live(
    setting(
      "SOTTO_TOKEN_KEYS",
      text,
      ".sotto/token-keys",
      "folder of Ed25519 private keys, one JWK per file; the last file name signs",
    ),
  ),
  tokenKey: live(setting("SOTTO_TOKEN_KEY", text, undefined, "one JWK or a JWK set, instead of the folder", true)),
  workers: setting(
    "SOTTO_VERIFY_WORKERS",
    integer(1, 64),
    undefined,
    "threads that verify proofs; default one per processor core",
  ),

  smallestAmount: live(
    setting("SOTTO_SMALLEST_AMOUNT", integer(0), "1000", "minimum lower bound of a payment, token base units"),
  ),
  recipients: live(
    setting(
      "SOTTO_RECIPIENTS",
      list(shieldedAddress),
      "",
      "one shielded address of each wallet that is served, comma-separated; the wallet's addresses of all months count; empty serves everyone",
    ),
  ),
  recipientQuota: live(
    setting(
      "SOTTO_RECIPIENT_QUOTA",
      integer(0),
      "100000",
      "payments per day to one wallet, at the addresses of all its months",
    ),
  ),
  clientQuota: live(
    setting(
      "SOTTO_CLIENT_QUOTA",
      integer(0),
      undefined,
      "verified payments and withdrawals per network and day; default: as many as an eighth of SOTTO_GAS_BUDGET pays for, at most 10000",
    ),
  ),
  sponsorQuota: live(
    setting(
      "SOTTO_SPONSOR_QUOTA",
      integer(0),
      undefined,
      "deposits, and withdrawals without a fee, per network and day, and deposits per account and day; default: as many as an eighth of SOTTO_GAS_BUDGET pays for, at most 100",
    ),
  ),
  quotasBeyondBudget: live(
    setting(
      "SOTTO_QUOTAS_BEYOND_BUDGET",
      oneOf("refuse", "allow"),
      "refuse",
      "allow: start even if the quotas let one client exhaust SOTTO_GAS_BUDGET",
    ),
  ),
  depositFee: live(
    setting(
      "SOTTO_DEPOSIT_FEE",
      integer(0),
      "0",
      "fee of a deposit, paid as a note of at least this amount in base units to SOTTO_FEE_TAG; 0: deposits are sponsored",
    ),
  ),
  feeTag: live(
    setting("SOTTO_FEE_TAG", wholeNumber, undefined, "owner tag that receives the notes for SOTTO_DEPOSIT_FEE"),
  ),
  withdrawalFee: live(
    setting(
      "SOTTO_WITHDRAWAL_FEE",
      integer(0),
      "0",
      "minimum fee of a withdrawal or merge to an account of the relayer, base units; 0: they are sponsored",
    ),
  ),
  longestValidity: live(
    setting(
      "SOTTO_LONGEST_VALIDITY",
      integer(60, DAY_SECONDS * 30),
      String(DAY_SECONDS),
      "maximum remaining validity of a deposit or withdrawal, seconds",
    ),
  ),

  discovery: setting(
    "SOTTO_DISCOVERY",
    oneOf("on", "off"),
    "off",
    "on: resources that were paid for in x402's format, and whose host agrees, are listed at /discovery/resources; the service then sends requests to these hosts",
  ),
  discoveryDelayHours: setting(
    "SOTTO_DISCOVERY_DELAY_HOURS",
    integer(0, 720),
    undefined,
    "minimum time between the first payment for a resource and its listing, so that nobody can tell which payment it was; each waits a random time, at most twice as long; default 24, on a local chain 0",
  ),
  discoveryHostLimit: live(
    setting("SOTTO_DISCOVERY_HOST_LIMIT", integer(1, 1_000), "20", "maximum listings of one host"),
  ),
  discoveryLimit: live(setting("SOTTO_DISCOVERY_LIMIT", integer(1, 100_000), "5000", "maximum listings of all hosts")),
} as const;

export type Settings = SettingValues<typeof SETTINGS>;

export const allSettings = (extensions: readonly ServiceExtension[]): SettingTable =>
  Object.assign({}, SETTINGS, ...extensions.map(({ settings }) => settings ?? {}));

/** The settings as a Markdown table, for docs/operations.md. */
export const settingsTable = (extensions: readonly ServiceExtension[] = []): string => tableOf(allSettings(extensions));
