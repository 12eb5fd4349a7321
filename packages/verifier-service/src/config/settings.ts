import { PHONE_SETTINGS } from "@sotto/phone-registry";
import { CHAIN_SETTINGS, parse, SERVER_SETTINGS, type SettingValues, setting } from "@sotto/server";

const { integer, list, oneOf, privateKey, shieldedAddress, storeUrl, text, wholeNumber } = parse;
const DAY_SECONDS = 86_400;

/** Settings that must be there have no fallback and are checked in config.ts. */
export const SETTINGS = {
  ...SERVER_SETTINGS,

  ...CHAIN_SETTINGS,
  deploymentBlock: setting("SOTTO_DEPLOYMENT_BLOCK", integer(0), "0", "block after which the pool's events begin"),
  confirmations: setting(
    "SOTTO_CONFIRMATIONS",
    integer(1, 60),
    undefined,
    "blocks until a payment counts, its own included; left out: 2, on a local chain 1",
  ),
  blockTimeMs: setting(
    "SOTTO_BLOCK_TIME_MS",
    integer(100, 60_000),
    undefined,
    "the chain's time between blocks, times the confirmations at most 60 s; left out: 12000, on a local chain 1000",
  ),
  maxHeadAgeMs: setting(
    "SOTTO_MAX_HEAD_AGE_MS",
    integer(0, 3_600_000),
    undefined,
    "age of the newest block from which on nothing is verified and the service is not ready, 0 for any age; left out: five blocks, at least 60 s, on a local chain 0",
  ),
  pollMs: setting(
    "SOTTO_POLL_MS",
    integer(10, 60_000),
    undefined,
    "how often the chain is asked; left out: 1000, on a local chain 100",
  ),

  relayerKey: setting(
    "SOTTO_RELAYER_KEY",
    privateKey,
    undefined,
    "private key of the account that pays the gas; required",
    true,
  ),
  maxFeePerGas: setting(
    "SOTTO_MAX_FEE_PER_GAS",
    wholeNumber,
    undefined,
    "most wei a gas it ever offers; left out: ten times what the last blocks cost, read every hour",
  ),
  maxPriorityFeePerGas: setting(
    "SOTTO_MAX_PRIORITY_FEE_PER_GAS",
    wholeNumber,
    undefined,
    "most wei a gas it offers to the block's builder; left out: three times what the last blocks paid or the node suggests",
  ),
  gasBudget: setting("SOTTO_GAS_BUDGET", wholeNumber, "1000000000000000000", "most wei it spends a day (UTC)"),
  leastBalance: setting("SOTTO_LEAST_BALANCE", wholeNumber, "10000000000000000", "wei below which it is not ready"),
  appendAfterMs: setting(
    "SOTTO_APPEND_AFTER_MS",
    integer(0, 600_000),
    undefined,
    "age of the oldest queued note at which the queue goes into the tree; left out: 30000, on a local chain 0",
  ),
  settleWaitMs: setting(
    "SOTTO_SETTLE_WAIT_MS",
    integer(0, 120_000),
    undefined,
    "longest time a request for a settlement is held before the answer is pending; left out: a payment is held until its outcome is known, a deposit or withdrawal for its confirmations and two blocks, at least 10 s",
  ),
  maxHeld: setting(
    "SOTTO_MAX_HELD",
    integer(1, 100_000),
    "2000",
    "requests for settlements that are held at once by each replica, half of them of one address",
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
    "folder with the circuits' artifacts; those of a ceremony's set are below it, in ceremony/NAME",
  ),
  artifactSet: setting(
    "SOTTO_ARTIFACT_SET",
    text,
    "development",
    "set of keys the pool's verifiers have: development, or ceremony/NAME",
  ),
  otherKeys: setting(
    "SOTTO_OTHER_KEYS",
    list(text),
    "",
    "folders with the verification keys of retired sets, so that their proofs are told from wrong ones",
  ),
  tokenKeys: setting(
    "SOTTO_TOKEN_KEYS",
    text,
    ".sotto/token-keys",
    "folder of Ed25519 private keys, one JWK a file; the last name signs",
  ),
  tokenKey: setting(
    "SOTTO_TOKEN_KEY",
    text,
    undefined,
    "the same as one JWK or a JWK set, in place of the folder",
    true,
  ),
  workers: setting(
    "SOTTO_VERIFY_WORKERS",
    integer(1, 64),
    undefined,
    "threads that verify; left out: by the processors",
  ),

  smallestAmount: setting(
    "SOTTO_SMALLEST_AMOUNT",
    integer(0),
    "1000",
    "least lower bound of a payment, token base units",
  ),
  recipients: setting(
    "SOTTO_RECIPIENTS",
    list(shieldedAddress),
    "",
    "shielded addresses whose payments are relayed, comma-separated; empty: all",
  ),
  recipientQuota: setting("SOTTO_RECIPIENT_QUOTA", integer(0), "100000", "payments to one shielded address a day"),
  clientQuota: setting(
    "SOTTO_CLIENT_QUOTA",
    integer(0),
    undefined,
    "proofs of payments and withdrawals that are checked for one network a day; left out: what costs at most an eighth of SOTTO_GAS_BUDGET, at most 10000",
  ),
  sponsorQuota: setting(
    "SOTTO_SPONSOR_QUOTA",
    integer(0),
    undefined,
    "deposits and withdrawals without a fee of one network, and deposits of one account, a day; left out: what costs at most an eighth of SOTTO_GAS_BUDGET, at most 100",
  ),
  quotasBeyondBudget: setting(
    "SOTTO_QUOTAS_BEYOND_BUDGET",
    oneOf("refuse", "allow"),
    "refuse",
    "allow: start although one client's quotas let it use up SOTTO_GAS_BUDGET alone",
  ),
  depositFee: setting(
    "SOTTO_DEPOSIT_FEE",
    integer(0),
    "0",
    "least note, base units, to the relayer's owner tag in a deposit; 0: they are sponsored",
  ),
  feeTag: setting("SOTTO_FEE_TAG", wholeNumber, undefined, "owner tag that the notes for SOTTO_DEPOSIT_FEE go to"),
  withdrawalFee: setting(
    "SOTTO_WITHDRAWAL_FEE",
    integer(0),
    "0",
    "least fee, base units, of a withdrawal or merge to the relayer's account; 0: they are sponsored",
  ),
  longestValidity: setting(
    "SOTTO_LONGEST_VALIDITY",
    integer(60, DAY_SECONDS * 30),
    String(DAY_SECONDS),
    "most seconds a deposit or withdrawal may still be valid",
  ),

  phoneRegistry: setting(
    "SOTTO_PHONE_REGISTRY",
    oneOf("on", "off"),
    "off",
    "on: the phone registry is served below the base path; the settings below are its own",
  ),
  ...PHONE_SETTINGS,
} as const;

export type Settings = SettingValues<typeof SETTINGS>;
