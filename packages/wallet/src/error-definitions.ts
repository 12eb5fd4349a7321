import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of the wallet. */
export const WALLET_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  INVALID_WORDS: {
    means: "The seed words are not 24 words of the list, or their checksum is wrong.",
    cause: "A word is misspelled, missing or in another position, or the words belong to another kind of wallet.",
    exit: "usage",
  },
  INVALID_STORE_KEY: {
    means: "A key of the store has characters or a length that not every store accepts.",
    cause: "A store of your own builds keys from data that can contain any character.",
  },
  STORE_CONFLICT: {
    means: "Another process changed the record in the meantime.",
    cause: "Two processes or tabs use one store at the same time.",
    exit: "busy",
  },
  STORE_FOREIGN: {
    means: "The store belongs to another wallet, pool or chain.",
    cause: "The words, the manifest or the chain changed, but the store's path did not.",
    exit: "usage",
  },
  STORE_DAMAGED: {
    means: "A stored record without a second copy is damaged, or this version did not write it.",
    cause: "A newer version wrote the store, its file was edited or cut off, or the disk is faulty.",
  },
  STORE_CLOSED: { means: "The store is closed.", cause: "The program uses the store after it called `close`." },
  WALLET_CLOSED: { means: "The wallet is closed.", cause: "The program uses the wallet after it called `close`." },
  WALLET_BUSY: {
    means: "Another process or browser tab is using the wallet's store.",
    cause: "A second program, command or tab has the same wallet open.",
    exit: "busy",
  },
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
  ROOT_MISMATCH: {
    means: "The tree built from the node's events has a different root than the contract.",
    cause: "The node left out or repeated events, or the manifest's deployment block is too late.",
    exit: "network",
  },
  SET_MISMATCH: SHARED_ERRORS.SET_MISMATCH,
  TOKEN_MISMATCH: {
    means: "The contract at the token's address is not an ERC-20, or the service's token is for another payment.",
    cause: "The manifest names another contract, or the service mixed up two requests.",
    exit: "network",
  },
  DEPOSIT_REFUSED: {
    means: "The token would refuse the deposit that the account signed, so nothing was submitted.",
    cause:
      "The token takes no signatures of contract accounts, the account's code does not accept the signature or is not deployed yet, the signature has more than 2048 bytes, or the token blocks the account.",
    exit: "refused",
  },
  INSUFFICIENT_FUNDS: {
    means: "The wallet does not have the amount to be spent. Details: `missing`.",
    cause: "Too little was deposited or received, or the price is in a different unit than expected.",
    exit: "funds",
    remedy: {
      local: "`sotto deposit AMOUNT --mint` deposits test tokens",
      elsewhere: "`sotto deposit AMOUNT` deposits tokens",
    },
  },
  FUNDS_NOT_READY: {
    means: "The wallet has enough, but some of it is unconfirmed, queued for the tree, or held by payments in flight.",
    cause: "A deposit or payment arrived moments ago, or another payment of this wallet holds notes.",
    exit: "pending",
  },
  MERGE_REQUIRED: {
    means: "The wallet has enough, but in notes that are each too small. Merge them first.",
    cause: "The wallet received many small payments: a payment spends one note, a withdrawal at most eight.",
    exit: "funds",
    remedy: "merge notes with `sotto merge`",
  },
  NOTES_APART: {
    means:
      "The wallet has enough, but not in notes that may be spent together. Details: `needed`, `largest` (the most that one group has).",
    cause: "Code that extends the wallet keeps notes apart or excludes some, and no group of notes suffices.",
    exit: "funds",
    remedy: "spend less, wait, or consent to mix the notes with `sotto merge --mix` or `sotto withdraw --mix`",
  },
  INSUFFICIENT_TOKENS: SHARED_ERRORS.INSUFFICIENT_TOKENS,
  NOT_APPROVED: SHARED_ERRORS.NOT_APPROVED,
  DEPOSIT_IN_PROGRESS: {
    means: "Another call in this process is working on the deposit. Details: `id`.",
    cause: "The program calls `fund` or `resume` again before the first call has returned.",
    exit: "busy",
  },
  DEPOSIT_MISMATCH: {
    means: "The deposit with this key has another account or other amounts. Details: `id`.",
    cause: "The program reuses the key of an earlier deposit for a new one.",
    exit: "refused",
  },
  DEPOSIT_EXPIRED: {
    means: "The deposit was not executed before its deadline. Nothing was deposited; sign another one. Details: `id`.",
    cause: "The program, the service or the chain was stopped for longer than the signature is valid.",
    exit: "refused",
  },
  UNKNOWN_DEPOSIT: {
    means: "There is no unfinished deposit with this id.",
    cause: "The deposit is finished, or its id belongs to another wallet.",
    exit: "usage",
  },
  WITHDRAWAL_IN_PROGRESS: {
    means: "Another call in this process is working on the withdrawal, or on an equal one.",
    cause: "The program withdraws again before the first call has returned.",
    exit: "busy",
  },
  UNKNOWN_PAYMENT: SHARED_ERRORS.UNKNOWN_PAYMENT,
  PAYMENT_SETTLED: {
    means: "The payment is settled already, so it cannot be retried.",
    cause: "The payment succeeded although its response was lost.",
    exit: "refused",
  },
  PAYMENT_CLOSED: {
    means: "The payment can no longer be retried: its note was spent otherwise or released.",
    cause: "Another device with the same words spent the note, or this wallet abandoned the payment.",
    exit: "refused",
  },
  ADDRESS_ENDED: {
    means:
      "The recipient's address may no longer be paid: it was that of a month. Nothing was paid. Details: `before`.",
    cause: "The month ended while the payment waited, or the program keeps an old address.",
    exit: "refused",
    remedy: "repeat the request: the server names its present address",
  },
  QUEUE_EMPTY: {
    means: "No note is waiting to be appended.",
    cause: "Someone else, usually the service, appended the notes first.",
  },
  CLOCK_WRONG: {
    means:
      "The clock of this machine differs from the chain's time, so a new proof would be refused. Nothing was paid, and no " +
      "note is held. Details: `seconds`, `direction`.",
    cause: "The machine's clock is not synchronized, the node lags behind, or a local chain's time was moved forward.",
    remedy: "Synchronize the clock (`timedatectl set-ntp true` on Linux), then try again.",
  },
  PROOF_MISMATCH: SHARED_ERRORS.PROOF_MISMATCH,
  TIMED_OUT: {
    means: "The operation did not finish in time.",
    cause: "The chain, the service or this machine is too slow for the configured timeout.",
    exit: "pending",
  },
} satisfies ErrorTable;

/** The errors of receipts and totals. */
export const RECEIPT_ERRORS = {
  RECEIPT_MALFORMED: {
    means: "A value is not a receipt or a statement of totals: a field is missing, malformed or too large.",
    cause: "The text was cut off, or is a different JSON text.",
    exit: "invalid",
  },
  RECEIPT_INVALID: {
    means: "The fields of the receipt contradict each other or the chain. It proves nothing.",
    cause: "Someone changed the receipt, or it was made for another pool.",
    exit: "invalid",
  },
  RECEIPT_NOT_SETTLED: {
    means: "The chain does not have the payment, or not with enough confirmations.",
    cause: "The payment is too recent, or never happened.",
    exit: "invalid",
  },
  RECEIPT_OTHER_CHALLENGE: {
    means: "The receipt answers a different challenge than the one that was set.",
    cause: "The receipt was made earlier, for someone else or for another question.",
    exit: "invalid",
  },
  RECEIPT_ELSEWHERE: {
    means: "The receipt is about another chain, pool or address than expected.",
    cause: "The receipt and the check use different deployments or recipients.",
    exit: "invalid",
  },
  RECEIPT_SHOWS_DEPOSIT: {
    means: "The spent note was a deposit: the receipt would reveal which one, and so the depositor's account.",
    cause: "The wallet paid directly with a deposited note, not with the change of an earlier payment.",
    exit: "refused",
  },
  RECEIPT_IMPOSSIBLE: {
    means: "This wallet cannot make the receipt: the payment is not settled, or is not in the wallet's journal.",
    cause: "The payment is recent or failed, or another device made it.",
    exit: "refused",
  },
} satisfies ErrorTable;

/** The errors of requests to the service. No message repeats a token or the contents of a request. */
export const SERVICE_CLIENT_ERRORS = {
  SERVICE_NOT_ALLOWED: {
    means: "The service's base URL is not an http(s) URL, or is not allowed.",
    cause: "The URL has a typo, or the resource server names a service that is not in the list.",
    exit: "usage",
  },
  SERVICE_NOT_SECURE: {
    means: "The service's base URL is plain http, not on this machine, and the chain is not known to be local.",
    cause: "The URL begins with http:// although the service is on another machine.",
    exit: "usage",
  },
  SERVICE_UNREACHABLE: {
    means: "The service cannot be reached.",
    cause: "The URL is wrong, the service is down, or a firewall or proxy blocks the connection.",
    exit: "network",
    remedy: { local: "start one at http://127.0.0.1:8402/zk with `npm run service`" },
  },
  SERVICE_TIMEOUT: {
    means: "The service does not answer in time.",
    cause: "The service or the chain is overloaded, or the connection is slow.",
    exit: "network",
  },
  SERVICE_REDIRECTED: {
    means: "The service answers with a redirect. The client follows none: bundles go to the allowed service only.",
    cause: "The URL is an old one, or lacks https or a part of the path.",
    exit: "network",
  },
  SERVICE_ANSWER_INVALID: {
    means: "The service's response does not match its interface, or is too large.",
    cause: "The URL belongs to another program or a proxy, or the service has another version.",
    exit: "network",
  },
  SERVICE_REFUSED: {
    means:
      "The service responds with an error. Details: `status`, `reason` (the service's code), `retryAfter` in seconds.",
    cause: "The service limits requests, is not ready, or does not accept this payment; its code says which.",
    exit: "refused",
  },
  PAYMENT_INVALID: {
    means: "Verify responds with `valid: false`. Details: `reason`.",
    cause: "The note was spent in the meantime, the pool's root is too old, or the versions differ.",
    exit: "refused",
  },
  NOT_SETTLED: {
    means: "The payment, deposit or withdrawal failed, and can no longer be settled. Details: `reason`, `id`.",
    cause: "Another transaction spent the note first, or the deadline passed before the relayer sent it.",
    exit: "refused",
  },
  SETTLEMENT_PENDING: {
    means: "The payment was not settled in time, but may still be. Details: `id`, `txSignature`.",
    cause: "The chain is busy, or the relayer waits for gas or confirmations.",
    exit: "pending",
  },
} satisfies ErrorTable;
