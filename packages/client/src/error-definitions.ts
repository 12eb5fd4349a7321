import { CHAIN_ERRORS } from "@sotto/chain";
import { GROTH16_ERRORS } from "@sotto/groth16";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { PROVER_ERRORS } from "@sotto/prover";
import { RECEIPT_ERRORS, SERVICE_CLIENT_ERRORS, WALLET_ERRORS } from "@sotto/wallet";

const PAYMENT_DECLINED = {
  means: "The program's `confirmPayment` declined the payment. This call paid nothing.",
  cause: "The function or the user said no to this price, recipient or resource.",
  exit: "refused",
} as const;

/** The errors of paying for a request. Nothing was paid when one of these is thrown. */
export const FETCH_ERRORS = {
  FETCH_OPTION_INVALID: {
    means: "An option is missing or has the wrong type.",
    cause: "An option has a typo, an amount is not a bigint, or the option belongs to another version.",
    exit: "usage",
  },
  METHOD_INVALID: {
    means:
      "A method of paying uses a header, address or secret that is not its own, or a price that is not that of its tokens.",
    cause: "The method has a mistake, or was made for another version.",
    exit: "usage",
  },
  HEADER_TAKEN: {
    means: "The request has its own header in which the payment would have to travel. Details: `header`.",
    cause: "The program sends Authorization, and the server takes payments in Authorization only.",
    exit: "refused",
    remedy: "ask the server's operator to take payments in another header",
  },
  METHOD_MISSING: {
    means:
      "The proof of an interrupted purchase can only be presented by a method of paying that is missing. Details: `method`.",
    cause: "The purchase was begun by a program with another list of methods.",
    exit: "usage",
    remedy: "add the method to the option methods, and repeat the same request",
  },
  TERMS_NOT_OFFERED: {
    means: "A server does not ask for the payment that a method of paying expects. Nothing was paid.",
    cause: "The server no longer sells it, or changed its price or wallet.",
    exit: "refused",
  },
  BODY_TOO_LARGE: SHARED_ERRORS.BODY_TOO_LARGE,
  BODY_NOT_REPLAYABLE: {
    means: "The body of the request cannot be read, so it could not be sent again with its proof.",
    cause: "The body is a stream that was read before, or a `Request` whose body was used.",
    exit: "usage",
  },
  REQUEST_NOT_SUPPORTED: {
    means:
      "The request or its body is an object that this runtime's fetch would send as text such as [object FormData].",
    cause: "It was made by another fetch, such as undici's, or by jsdom, or is an object that is not JSON text yet.",
    exit: "usage",
  },
  CHALLENGE_INVALID: {
    means: "The 402 response says x402-zk, but its body is not valid payment instructions.",
    cause: "The resource server has another version, or a proxy changed the response.",
    exit: "refused",
  },
  CHALLENGE_MISMATCH: {
    means: "The 402 response asks for another chain, pool or token than the wallet's. Details: `field`.",
    cause: "The wallet and the resource server use different deployments.",
    exit: "refused",
  },
  SERVER_CLOCK_WRONG: {
    means:
      "The time in the 402 differs so much from this machine's that the server would refuse the proof. Nothing was paid. " +
      "Details: `host`, `seconds`, `direction`.",
    cause: "The resource server's clock is not synchronized. If this machine's is wrong, the error is CLOCK_WRONG.",
    exit: "refused",
    remedy: "Ask the server's operator to synchronize its clock.",
  },
  CHALLENGE_REDIRECTED: {
    means: "The 402 response comes from a different address than was requested: the request was redirected.",
    cause: "The URL is an old one, lacks `www` or the final slash, or a server on the way redirects.",
    exit: "refused",
  },
  ORIGIN_NOT_SECURE: {
    means:
      "The resource server or the service uses plain http: an eavesdropper could use the proof first. Details: `origin`.",
    cause: "The URL begins with http:// outside this machine.",
    exit: "refused",
  },
  RESOURCE_MISMATCH: {
    means: "The resource to be paid for is not the one that was requested.",
    cause: "The resource server is behind a proxy and does not know its public URL, or it charges for another page.",
    exit: "refused",
  },
  ENDPOINT_NOT_ALLOWED: {
    means: "The endpoints in the 402 response do not belong to an allowed service.",
    cause: "The resource server uses a service that is not in the client's list.",
    exit: "refused",
    remedy: "if you trust that service, choose it with `sotto init --update --service URL`",
  },
  RECIPIENT_NOT_SIGNED: SHARED_ERRORS.RECIPIENT_NOT_SIGNED,
  PAYMENT_DECLINED,
  RECIPIENT_CHANGED: {
    means:
      "The host was paid under another wallet, or another spending key of it, before, and nobody confirmed the change. Details: `known`, `offered`.",
    cause:
      "The merchant changed its wallet or its words, a local chain was restarted, or someone replaced the terms to divert payments.",
    exit: "refused",
    remedy: "accept the change with --new-recipient",
  },
  ADDRESS_OUTSIDE_MONTH: {
    means:
      "The server asks to be paid at an address of another month: its recipient would not look for the payment there. Nothing was " +
      "paid. Details: `host`, `month`, `now`.",
    cause: "The server still serves the address of a past month, or this machine's clock is wrong.",
    exit: "refused",
    remedy: "set this machine's clock if it is wrong, or ask the server's operator for the address of this month",
  },
  ADDRESS_NOT_LISTED: {
    means:
      "The server asks to be paid at an address that the recipient's newest address schedule does not list. Nothing was paid. " +
      "Details: `host`, `sequence`.",
    cause: "The server has old settings, or someone who has the account's key or the server changed the address.",
    exit: "refused",
    remedy: "ask the server's operator to serve the address of this month",
  },
  SCHEDULE_LOWER: {
    means:
      "The server follows an address schedule with a lower sequence number than one that was seen before. Nothing was paid. " +
      "Details: `host`, `known`, `offered`.",
    cause: "One of the merchant's servers has an old schedule, or someone brought back one whose keys were stolen.",
    exit: "refused",
    remedy: "ask the server's operator to serve the newest schedule",
  },
  SCHEDULE_CHANGED: {
    means:
      "The server follows another address schedule than before, with the same sequence number. Nothing was paid. Details: those of " +
      "SCHEDULE_LOWER.",
    cause: "The merchant signed two schedules with one number, or someone who has the account's key signed one.",
    exit: "refused",
    remedy: "ask the server's operator to sign its schedule with a higher sequence number",
  },
  SCHEDULE_MISMATCH: {
    means:
      "The address schedule that the server publishes is not the one that its 402 names, is for another recipient, chain or pool, or " +
      "is not signed by the recipient. Nothing was paid. Details: `host`, `field`.",
    cause: "Two servers behind one address have different schedules, or someone replaced the schedule.",
    exit: "refused",
    remedy: "try again; if the error stays, ask the server's operator to publish the schedule that its 402 names",
  },
  SCHEDULE_UNAVAILABLE: {
    means:
      "The server does not answer with the address schedule that its 402 names. Nothing was paid. Details: `host`.",
    cause: "The server or a proxy does not pass on the schedule's path, the answer is too long, or it took too long.",
    exit: "network",
  },
} satisfies ErrorTable;

/** The errors of paying a phone number. Neither messages nor details contain the number. */
export const PHONE_PAYMENT_ERRORS = {
  PAYMENT_DECLINED,
  PHONE_OPTION_INVALID: {
    means: "An option or field of the request is missing or has the wrong type.",
    cause: "An option has a typo, or a form left a field empty.",
    exit: "usage",
  },
  PHONE_NUMBER_INVALID: {
    means: "A value is not a phone number in its international form: + and 5 to 15 digits.",
    cause: "The number lacks + and the country code, or contains letters.",
    exit: "usage",
  },
  PHONE_UNKNOWN: {
    means: "The registry knows no wallet for this number.",
    cause: "The holder has not linked the number, or linked it in another registry.",
    exit: "refused",
  },
  PHONE_ANSWER_INVALID: {
    means: "The registry's response lacks a field that the wallet signed, or its fields contradict each other.",
    cause: "The registry has another version, is faulty or lies.",
    exit: "refused",
  },
  PHONE_UNVERIFIED: {
    means: "Nobody has proven to own the number: anyone may have linked it.",
    cause: "The holder has not entered the code that the registry sent.",
    exit: "refused",
  },
  PHONE_BINDING_FOREIGN: {
    means: "The wallet signed for another number, chain, pool or registry. Details: `field`.",
    cause: "The registry serves another pool or chain, or returns the link of another number.",
    exit: "refused",
  },
  PHONE_NOT_SIGNED: {
    means: "The wallet did not sign the address that the registry names.",
    cause: "The registry or its database was changed, or the wallet's contract now accepts other owners.",
    exit: "refused",
  },
  PHONE_BINDING_EXPIRED: {
    means: "The wallet's signature has expired, or is dated in the future.",
    cause: "The holder linked the number more than a year ago, or a clock is wrong.",
    exit: "refused",
  },
  PHONE_CHANGED: {
    means:
      "The number had another wallet or key when it was paid before, and nobody confirmed the change. Details: " +
      "`knownWallet`, `knownKey`, `knownIssuedAt`, `offeredWallet`, `offeredKey`, `offeredIssuedAt`.",
    cause: "The holder changed the wallet, the number has a new holder, or someone took it over.",
    exit: "refused",
    remedy: "accept the change with --new-recipient",
  },
  PHONE_ROLLBACK: {
    means: "The registry shows an older link than it showed before. Details: those of PHONE_CHANGED.",
    cause: "The registry was restored from a backup, or hides a newer link.",
    exit: "refused",
  },
  PHONE_RECIPIENT_MISMATCH: {
    means: "A 402 response names a phone number, but not the wallet or key that it belongs to. Details: `field`.",
    cause: "The resource server's terms are older than the link, or name someone else's wallet.",
    exit: "refused",
  },
} satisfies ErrorTable;

const REFUND = "`sotto purchases` shows the details for a refund claim; close the purchase with `sotto dismiss ID`";

/** The errors of a purchase. */
export const PURCHASE_ERRORS = {
  PURCHASE_INVALID: {
    means: "An option or field of the request is missing or has the wrong type. Nothing was started.",
    cause: "A field has a typo, an amount is not a bigint, or a key is empty or too long.",
    exit: "usage",
  },
  REQUEST_LIMIT_EXCEEDED: {
    means: "The price is above the limit for one request. Details: `price`, `limit`.",
    cause: "The resource costs more than you allowed for one request.",
    exit: "refused",
    remedy: "raise it with --max, and the wallet's with `sotto limits --max AMOUNT`",
  },
  DAY_LIMIT_EXCEEDED: {
    means:
      "The price would exceed the limit for today (UTC). Details: `price`, `spent`, `limit`, and `until`, when the day ends, " +
      "unless the price alone is above the limit.",
    cause: "Earlier and open purchases of this day leave too little of the limit.",
    exit: "refused",
    remedy: "raise it with --max-day, and the wallet's with `sotto limits`; `sotto purchases` lists the open purchases",
  },
  HOST_LIMIT_EXCEEDED: {
    means:
      "The price would exceed the limit for this host, with all its ports, today (UTC). Details: those of DAY_LIMIT_EXCEEDED, " +
      "and `host`.",
    cause: "Earlier and open purchases from this host leave too little of the limit.",
    exit: "refused",
    remedy:
      "raise it with --max-host, and the wallet's with `sotto limits`; `sotto purchases` lists the open purchases",
  },
  HOUR_LIMIT_EXCEEDED: {
    means:
      "The price would exceed the limit for this hour (UTC). Details: those of DAY_LIMIT_EXCEEDED; `until` is when the hour ends.",
    cause: "Earlier and open purchases of this hour leave too little of the limit.",
    exit: "refused",
    remedy:
      "raise it with `sotto limits --max-hour AMOUNT`, or wait for the next hour; `sotto purchases` lists the open purchases",
  },
  TOOL_LIMIT_EXCEEDED: {
    means:
      "The price would exceed the limit for this tool of an agent today (UTC). Details: those of DAY_LIMIT_EXCEEDED, and `tool`.",
    cause: "Earlier and open purchases by this tool leave too little of the limit.",
    exit: "refused",
    remedy: "raise it with `sotto limits --max-tool TOOL=AMOUNT`; `sotto purchases` lists the open purchases",
  },
  PURCHASE_IN_PROGRESS: {
    means: "A purchase with this key is in progress in this process.",
    cause: "The program starts a purchase twice at the same time.",
    exit: "busy",
  },
  PURCHASE_FINISHED: {
    means: "The purchase with this key was paid and delivered before. Details: `id`, `txSignature`, `digest`.",
    cause: "The program reuses a key, or repeats a request whose answer it already got.",
    exit: "refused",
  },
  PURCHASE_MISMATCH: {
    means: "The purchase with this key has another recipient, price, resource or service.",
    cause: "The program reuses a key for another request, or the merchant changed its terms in the meantime.",
    exit: "refused",
  },
  FUNDS_TIMED_OUT: {
    means:
      "The wallet's notes did not become spendable in time. Nothing was paid; repeat the call. Details: `cause` " +
      "(NO_BLOCKS: they wait for confirmations and the chain mines no blocks; CONFIRMATIONS; APPEND; HELD by other " +
      "payments; NONE), `pending`, `queued` and `held` in base units.",
    cause: "Notes that arrived recently wait for blocks, for the service, or for other payments of this wallet.",
    exit: "pending",
    remedy: { local: "set it with `sotto init --update --finality 0`", detail: { name: "cause", value: "NO_BLOCKS" } },
  },
  SPLIT_IMPOSSIBLE: {
    means: "The wallet's notes are not worth enough for the requested split.",
    cause: "The program asks for more or larger notes than the wallet has funds for.",
    exit: "funds",
  },
  PROOF_HEADER_TOO_LONG: {
    means:
      "A proof may have more characters than the server accepts in a header. Nothing was paid. Details: `needed`, `limit`.",
    cause: "The resource's URL is very long, or the server accepts only short headers.",
    exit: "refused",
  },
  TOKEN_MISMATCH: WALLET_ERRORS.TOKEN_MISMATCH,
  SETTLEMENT_NOT_FOUND: {
    means:
      "The service says that the payment was settled, but the chain does not have it. Details: `id`, `validUntil`.",
    cause: "The service is ahead of this wallet's node, the chain reorganized, or the service lies.",
    exit: "network",
  },
  SETTLEMENT_UNKNOWN: SHARED_ERRORS.SETTLEMENT_UNKNOWN,
  PAYMENT_REPLACED: {
    means: "Another payment of the same seed spent the payment's note. Nothing was paid; repeat the call.",
    cause: "Another device with the same words paid with this note first.",
    exit: "refused",
  },
  PAID_BUT_STALE: {
    means:
      "The payment was made, but its proof is too old to be shown. It is not paid again until the purchase is " +
      "dismissed. Details, for a claim for a refund: `id`, `txSignature`, `digest`, `nullifier`, `amount`, `resource`, " +
      "`recipient`, `timestamp`.",
    cause: "The program was stopped between the payment and the delivery for longer than a proof is valid.",
    exit: "refused",
    remedy: REFUND,
  },
  PAID_BUT_REFUSED: {
    means:
      "The payment was made, but the server refuses the proof. Details: those of PAID_BUT_STALE, `reason` and `status`.",
    cause: "The server changed its price or recipient, used the payment already, or is faulty.",
    exit: "refused",
    remedy: REFUND,
  },
  PAID_NOT_TAKEN_YET: {
    means:
      "The payment was made, but the server cannot check the proof now. Repeat the call. Details: `reason`, `status`.",
    cause: "The server's node or service is down or a few blocks behind, or the server is overloaded.",
    exit: "pending",
  },
  UNKNOWN_PURCHASE: {
    means: "There is no open purchase with this id, or it cannot be dismissed yet.",
    cause: "The purchase is finished or dismissed, the id has a typo, or a payment is still in flight.",
    exit: "usage",
    remedy: {
      local: "`sotto purchases` lists the open purchases",
      elsewhere: "`sotto purchases` lists the open purchases",
      detail: { name: "state" },
    },
  },
} satisfies ErrorTable;

/** Every error that the client can throw, including those of the packages it depends on. */
export const CLIENT_ERRORS = {
  ...PROTOCOL_ERRORS,
  ...GROTH16_ERRORS,
  ...PROVER_ERRORS,
  ...CHAIN_ERRORS,
  ...WALLET_ERRORS,
  ...FETCH_ERRORS,
  ...PHONE_PAYMENT_ERRORS,
  ...PURCHASE_ERRORS,
  ...RECEIPT_ERRORS,
  ...SERVICE_CLIENT_ERRORS,
} satisfies ErrorTable;
