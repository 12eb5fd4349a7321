import { CHAIN_ERRORS } from "@sotto/chain";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { PROVER_ERRORS } from "@sotto/prover";

/** The errors of the wallet. */
export const WALLET_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  INVALID_WORDS: {
    means: "The seed words are not 24 words of the list, or their checksum is wrong.",
    exit: "usage",
  },
  INVALID_STORE_KEY: { means: "A key of the store has characters or a length that not every store accepts." },
  STORE_CONFLICT: { means: "Another process changed the record in the meantime.", exit: "busy" },
  STORE_FOREIGN: { means: "The store belongs to another wallet, pool or chain.", exit: "usage" },
  STORE_DAMAGED: { means: "The store holds a record that this version did not write." },
  STORE_CLOSED: { means: "The store is closed." },
  WALLET_CLOSED: { means: "The wallet is closed." },
  WALLET_BUSY: {
    means: "Another process or browser tab is using the wallet's store.",
    exit: "busy",
  },
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
  ROOT_MISMATCH: {
    means: "The tree built from the node's events has a different root than the contract.",
    exit: "network",
  },
  SET_MISMATCH: SHARED_ERRORS.SET_MISMATCH,
  TOKEN_MISMATCH: {
    means: "The token at the address does not sign as EIP-3009 says, or the service's token is for another payment.",
    exit: "network",
  },
  INSUFFICIENT_FUNDS: {
    means: "The wallet has less than is to be spent. Details: `missing`.",
    exit: "funds",
    remedy: {
      local: "`sotto deposit AMOUNT --mint` deposits test tokens",
      elsewhere: "`sotto deposit AMOUNT` deposits tokens",
    },
  },
  FUNDS_NOT_READY: {
    means: "The wallet has enough, but some of it is unconfirmed, queued for the tree, or held by payments in flight.",
    exit: "pending",
  },
  MERGE_REQUIRED: {
    means: "The wallet has enough, but in notes that are each too small. Merge them first.",
    exit: "funds",
    remedy: "merge notes with `sotto merge`",
  },
  INSUFFICIENT_TOKENS: SHARED_ERRORS.INSUFFICIENT_TOKENS,
  DEPOSIT_IN_PROGRESS: {
    means: "Another call in this process is working on the deposit. Details: `id`.",
    exit: "busy",
  },
  DEPOSIT_MISMATCH: {
    means: "The deposit with this key has another account or other amounts. Details: `id`.",
    exit: "refused",
  },
  DEPOSIT_EXPIRED: {
    means: "The deposit was not executed before its date. Nothing was deposited; sign another one. Details: `id`.",
    exit: "refused",
  },
  UNKNOWN_DEPOSIT: { means: "There is no unfinished deposit with this id.", exit: "usage" },
  WITHDRAWAL_IN_PROGRESS: {
    means: "Another call in this process is working on the withdrawal, or on an equal one.",
    exit: "busy",
  },
  UNKNOWN_PAYMENT: SHARED_ERRORS.UNKNOWN_PAYMENT,
  PAYMENT_SETTLED: { means: "The payment is settled already, so it cannot be retried.", exit: "refused" },
  PAYMENT_CLOSED: {
    means: "The payment can no longer be retried: its note was spent otherwise or released.",
    exit: "refused",
  },
  QUEUE_EMPTY: { means: "No note is waiting to be appended." },
  CLOCK_BEHIND: { means: "The clock of this machine is behind the chain's, so that a new proof would expire at once." },
  PROOF_MISMATCH: SHARED_ERRORS.PROOF_MISMATCH,
  TIMED_OUT: { means: "It was not finished in the time allowed.", exit: "pending" },
} satisfies ErrorTable;

const PAYMENT_DECLINED = {
  means: "The program's `confirmPayment` declined the payment. Nothing was paid.",
  exit: "refused",
} as const;

/** The errors of paying for a request. Nothing was paid when one of these is thrown. */
export const FETCH_ERRORS = {
  FETCH_OPTION_INVALID: { means: "An option is missing or of the wrong kind.", exit: "usage" },
  BODY_TOO_LARGE: SHARED_ERRORS.BODY_TOO_LARGE,
  BODY_NOT_REPLAYABLE: {
    means: "The body of the request cannot be read, so it could not be sent again with its proof.",
    exit: "usage",
  },
  CHALLENGE_INVALID: {
    means: "The 402 response says x402-zk, but its body is not valid payment instructions.",
    exit: "refused",
  },
  CHALLENGE_MISMATCH: {
    means: "The 402 response asks for another chain, pool or token than the wallet's. Details: `field`.",
    exit: "refused",
  },
  CHALLENGE_REDIRECTED: {
    means: "The 402 response comes from a different address than was requested: the request was redirected.",
    exit: "refused",
  },
  ORIGIN_NOT_SECURE: {
    means:
      "The resource server or the service uses plain http: an eavesdropper could use the proof first. Details: `origin`.",
    exit: "refused",
  },
  RESOURCE_MISMATCH: { means: "The resource to be paid for is not the one that was requested.", exit: "refused" },
  ENDPOINT_NOT_ALLOWED: {
    means: "The endpoints in the 402 response do not belong to an allowed service.",
    exit: "refused",
    remedy: "if you trust that service, choose it with `sotto init --update --service URL`",
  },
  RECIPIENT_NOT_SIGNED: SHARED_ERRORS.RECIPIENT_NOT_SIGNED,
  PAYMENT_DECLINED,
  RECIPIENT_CHANGED: {
    means:
      "The host was paid under another wallet before, and nobody confirmed the change. Details: `known`, `offered`.",
    exit: "refused",
    remedy: "accept the change with --new-recipient",
  },
} satisfies ErrorTable;

/** The errors of paying a phone number. Neither messages nor details contain the number. */
export const PHONE_PAYMENT_ERRORS = {
  PAYMENT_DECLINED,
  PHONE_OPTION_INVALID: { means: "An option or field of the request is missing or of the wrong kind.", exit: "usage" },
  PHONE_NUMBER_INVALID: {
    means: "A value is not a phone number in its international form: + and 5 to 15 digits.",
    exit: "usage",
  },
  PHONE_UNKNOWN: { means: "The registry knows no wallet for this number.", exit: "refused" },
  PHONE_ANSWER_INVALID: {
    means: "The registry's response lacks what was signed, or its fields contradict each other.",
    exit: "refused",
  },
  PHONE_UNVERIFIED: { means: "Nobody has proven to own the number: anyone may have linked it.", exit: "refused" },
  PHONE_BINDING_FOREIGN: {
    means: "The wallet signed for another number, chain, pool or registry. Details: `field`.",
    exit: "refused",
  },
  PHONE_NOT_SIGNED: { means: "The wallet did not sign the address that the registry names.", exit: "refused" },
  PHONE_BINDING_EXPIRED: { means: "The wallet's signature has expired, or is dated in the future.", exit: "refused" },
  PHONE_CHANGED: {
    means:
      "The number had another wallet or key when it was paid before, and nobody confirmed the change. Details: " +
      "`knownWallet`, `knownKey`, `knownIssuedAt`, `offeredWallet`, `offeredKey`, `offeredIssuedAt`.",
    exit: "refused",
    remedy: "accept the change with --new-recipient",
  },
  PHONE_ROLLBACK: {
    means: "The registry shows an older link than it showed before. Details: those of PHONE_CHANGED.",
    exit: "refused",
  },
  PHONE_RECIPIENT_MISMATCH: {
    means: "A 402 response names a phone number, but not the wallet or key that it belongs to. Details: `field`.",
    exit: "refused",
  },
} satisfies ErrorTable;

const REFUND = "`sotto purchases` shows the details for a refund claim; close the purchase with `sotto dismiss ID`";

/** The errors of a purchase. */
export const PURCHASE_ERRORS = {
  PURCHASE_INVALID: {
    means: "An option or field of the request is missing or of the wrong kind. Nothing was started.",
    exit: "usage",
  },
  REQUEST_LIMIT_EXCEEDED: {
    means: "The price is above the limit for one request. Details: `price`, `limit`.",
    exit: "refused",
    remedy: "raise it with --max, and the wallet's with `sotto limits --max`",
  },
  DAY_LIMIT_EXCEEDED: {
    means: "The price would exceed the limit for today (UTC). Details: `price`, `spent`, `limit`.",
    exit: "refused",
    remedy: "raise it with --max-day, and the wallet's with `sotto limits`; `sotto purchases` lists the open purchases",
  },
  HOST_LIMIT_EXCEEDED: {
    means: "The price would exceed the limit for this host today (UTC). Details: `price`, `spent`, `limit`, `host`.",
    exit: "refused",
    remedy:
      "raise it with --max-host, and the wallet's with `sotto limits`; `sotto purchases` lists the open purchases",
  },
  PURCHASE_IN_PROGRESS: { means: "A purchase with this key is in progress in this process.", exit: "busy" },
  PURCHASE_FINISHED: {
    means: "The purchase with this key was paid and delivered before. Details: `id`, `txSignature`, `digest`.",
    exit: "refused",
  },
  PURCHASE_MISMATCH: {
    means: "The purchase with this key has another recipient, price, resource or service.",
    exit: "refused",
  },
  FUNDS_TIMED_OUT: {
    means:
      "The wallet's notes did not become spendable in time. Nothing was paid; repeat the call. Details: `cause` " +
      "(NO_BLOCKS: they wait for confirmations and the chain mines no blocks; CONFIRMATIONS; APPEND; HELD by other " +
      "payments; NONE), `pending`, `queued` and `held` in base units.",
    exit: "pending",
    remedy: { local: "set it with `sotto init --update --finality 0`", detail: { name: "cause", value: "NO_BLOCKS" } },
  },
  SPLIT_IMPOSSIBLE: { means: "The wallet's notes hold too little to be split as asked.", exit: "funds" },
  PROOF_HEADER_TOO_LONG: {
    means:
      "A proof may have more characters than the server accepts in a header. Nothing was paid. Details: `needed`, `limit`.",
    exit: "refused",
  },
  TOKEN_MISMATCH: WALLET_ERRORS.TOKEN_MISMATCH,
  SETTLEMENT_NOT_FOUND: {
    means:
      "The service says that the payment was settled, but the chain does not have it. Details: `id`, `validUntil`.",
    exit: "network",
  },
  SETTLEMENT_UNKNOWN: SHARED_ERRORS.SETTLEMENT_UNKNOWN,
  PAYMENT_REPLACED: {
    means: "Another payment of the same seed spent the payment's note. Nothing was paid; repeat the call.",
    exit: "refused",
  },
  PAID_BUT_STALE: {
    means:
      "The payment was made, but its proof is too old to be shown. It is not paid again until the purchase is " +
      "dismissed. Details, for a claim for a refund: `id`, `txSignature`, `digest`, `nullifier`, `amount`, `resource`, " +
      "`recipient`, `timestamp`.",
    exit: "refused",
    remedy: REFUND,
  },
  PAID_BUT_REFUSED: {
    means:
      "The payment was made, but the server refuses the proof. Details: those of PAID_BUT_STALE, `reason` and `status`.",
    exit: "refused",
    remedy: REFUND,
  },
  PAID_NOT_TAKEN_YET: {
    means:
      "The payment was made, but the server cannot check the proof now. Repeat the call. Details: `reason`, `status`.",
    exit: "pending",
  },
  UNKNOWN_PURCHASE: {
    means: "There is no open purchase with this id, or it cannot be dismissed yet.",
    exit: "usage",
    remedy: {
      local: "`sotto purchases` lists the open purchases",
      elsewhere: "`sotto purchases` lists the open purchases",
      detail: { name: "state" },
    },
  },
} satisfies ErrorTable;

/** The errors of receipts and totals. */
export const RECEIPT_ERRORS = {
  RECEIPT_MALFORMED: {
    means: "A value is not a receipt or a statement of totals: a field is missing, malformed or too large.",
    exit: "invalid",
  },
  RECEIPT_INVALID: {
    means: "The fields of the receipt contradict each other or the chain. It proves nothing.",
    exit: "invalid",
  },
  RECEIPT_NOT_SETTLED: {
    means: "The chain does not have the payment, or not with enough confirmations.",
    exit: "invalid",
  },
  RECEIPT_OTHER_CHALLENGE: {
    means: "The receipt answers a different challenge than the one that was set.",
    exit: "invalid",
  },
  RECEIPT_ELSEWHERE: { means: "The receipt is about another chain, pool or address than expected.", exit: "invalid" },
  RECEIPT_SHOWS_DEPOSIT: {
    means: "The spent note was a deposit: the receipt would reveal which one, and so the depositor's account.",
    exit: "refused",
  },
  RECEIPT_IMPOSSIBLE: {
    means: "This wallet cannot make the receipt: the payment is not settled, or is not in the wallet's journal.",
    exit: "refused",
  },
} satisfies ErrorTable;

/** The errors of requests to the service. No message repeats a token or the contents of a request. */
export const SERVICE_CLIENT_ERRORS = {
  SERVICE_NOT_ALLOWED: { means: "The service's base URL is not an http(s) URL, or is not allowed.", exit: "usage" },
  SERVICE_NOT_SECURE: {
    means: "The service's base URL is plain http, not on this machine, and the chain is not known to be local.",
    exit: "usage",
  },
  SERVICE_UNREACHABLE: {
    means: "The service cannot be reached.",
    exit: "network",
    remedy: { local: "start one at http://127.0.0.1:8402/zk with `npm run service`" },
  },
  SERVICE_TIMEOUT: { means: "The service does not answer in time.", exit: "network" },
  SERVICE_REDIRECTED: {
    means: "The service answers with a redirect. The client follows none: bundles go to the allowed service only.",
    exit: "network",
  },
  SERVICE_ANSWER_INVALID: {
    means: "The service's response does not match its interface, or is too large.",
    exit: "network",
  },
  SERVICE_REFUSED: {
    means:
      "The service responds with an error. Details: `status`, `reason` (the service's code), `retryAfter` in seconds.",
    exit: "refused",
  },
  PAYMENT_INVALID: { means: "Verify responds with `valid: false`. Details: `reason`.", exit: "refused" },
  NOT_SETTLED: {
    means: "The payment, deposit or withdrawal failed, and can no longer be settled. Details: `reason`, `id`.",
    exit: "refused",
  },
  SETTLEMENT_PENDING: {
    means: "The payment was not settled in time, but may still be. Details: `id`, `txSignature`.",
    exit: "pending",
  },
} satisfies ErrorTable;

/** Every error that the client can throw, including those of the packages it depends on. */
export const CLIENT_ERRORS = {
  ...PROTOCOL_ERRORS,
  ...PROVER_ERRORS,
  ...CHAIN_ERRORS,
  ...WALLET_ERRORS,
  ...FETCH_ERRORS,
  ...PHONE_PAYMENT_ERRORS,
  ...PURCHASE_ERRORS,
  ...RECEIPT_ERRORS,
  ...SERVICE_CLIENT_ERRORS,
} satisfies ErrorTable;
