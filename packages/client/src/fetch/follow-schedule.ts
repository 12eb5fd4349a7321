// Which address a recipient may be paid at: that of the month, as the recipient's newest address schedule lists it.
import { abortable, signatureCall } from "@sotto/chain";
import {
  addressOwnerTag,
  checkSchedule,
  foreign,
  MAX_SCHEDULE_LENGTH,
  type MessagePart,
  MONTH_GRACE_MS,
  type Month,
  message,
  monthAt,
  monthEnd,
  monthsAt,
  parseSchedule,
  type ScheduleReference,
  type SignedSchedule,
  SottoError,
  scheduleDigest,
} from "@sotto/protocol";
import { exchange, type Wallet } from "@sotto/wallet";
import { FetchError } from "./errors.ts";
import { assertNewest, keepSchedule, knownOf, monthOf, type ScheduleOwner, storedSchedule } from "./stored-schedule.ts";

/** The address that a server asks to pay. The caller has checked that the wallet signed it for this chain and pool. */
export interface AskedAddress {
  /** The recipient's wallet, 20 bytes as lower-case hex with 0x. */
  readonly wallet: string;
  /** 64 bytes as lower-case hex with 0x. */
  readonly shieldedAddress: string;
  /** The schedule that the server names; undefined if it names none. */
  readonly schedule?: ScheduleReference | undefined;
}

/** How a schedule is read. */
export interface ScheduleSource {
  /** Origin of the server that asks for the payment. */
  readonly origin: string;
  /** Sends the request for the schedule, without cookies or referrer. It follows no redirect. */
  readonly fetch: typeof fetch;
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum milliseconds for the whole answer. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** An address that may be paid now. */
export interface PayableAddress {
  /**
   * It is paid only before this time, ms: the end of its month and 10 minutes. Undefined if it is a lasting address, whose recipient
   * has no schedule.
   */
  readonly before: number | undefined;
  /**
   * Stores a schedule that is new. Call it before anything is paid.
   * @throws FetchError SCHEDULE_LOWER, SCHEDULE_CHANGED if a newer one was stored in the meantime
   */
  keep(): Promise<void>;
}

type Payer = Pick<Wallet, "store" | "chain" | "pool" | "now" | "assertClock">;

const TIMEOUT_MS = 30_000;

/** The fields that a schedule and a 402 share, with their names for people. */
const FIELDS = { digest: "digest", wallet: "wallet", ownerTag: "owner tag", chainId: "chain id", pool: "pool" };

/**
 * Checks that an address may be paid now. If the server names a schedule that this wallet has not seen, reads it from the
 * server's origin, and checks its signature and that it is newer than the known one. Once a schedule of a recipient was seen,
 * only the addresses that it lists are paid, each in its month. Writes nothing.
 * @throws FetchError SCHEDULE_UNAVAILABLE, SCHEDULE_MISMATCH, SCHEDULE_LOWER, SCHEDULE_CHANGED, ADDRESS_NOT_LISTED,
 *   ADDRESS_OUTSIDE_MONTH; WalletError CLOCK_WRONG, STORE_DAMAGED; SottoError INVALID_SHIELDED_ADDRESS, BINDING_UNCHECKED; the
 *   signal's reason
 */
export async function followSchedule(
  payer: Payer,
  { wallet, shieldedAddress, schedule: named }: AskedAddress,
  source: ScheduleSource,
): Promise<PayableAddress> {
  const { store } = payer;
  const { host } = new URL(source.origin);
  const owner = { wallet, ownerTag: addressOwnerTag(shieldedAddress) };
  const known = await storedSchedule(store, owner);
  const fresh =
    named === undefined || named.digest === known?.digest ? undefined : await readSchedule(payer, owner, named, source);
  const newest = fresh === undefined ? known : knownOf(fresh);
  if (newest === undefined) return { before: undefined, keep: async () => undefined };
  assertNewest(known, newest, host);
  const month = monthOf(newest, shieldedAddress);
  if (month === undefined)
    throw new FetchError(
      "ADDRESS_NOT_LISTED",
      `${host} asks to be paid at an address that the recipient's address schedule does not list, so nothing was paid; ` +
        "ask the server's operator to serve the address of this month",
      { host, sequence: newest.sequence },
    );
  await assertMonth(payer, month, host, source.signal);
  const keep = async () => (fresh === undefined ? undefined : keepSchedule(store, fresh, host));
  return { before: monthEnd(month) + MONTH_GRACE_MS, keep };
}

/** @throws FetchError ADDRESS_OUTSIDE_MONTH; WalletError CLOCK_WRONG if the chain's time says that this clock is wrong */
async function assertMonth(payer: Payer, month: Month, host: string, signal: AbortSignal | undefined): Promise<void> {
  const now = payer.now();
  if (monthsAt(now).includes(month)) return;
  await payer.assertClock(signal);
  throw new FetchError(
    "ADDRESS_OUTSIDE_MONTH",
    `${host} asks to be paid at its address of ${month}, but this machine's clock says ${new Date(now).toISOString()}; the ` +
      "recipient would not look for the payment there, so nothing was paid; set the clock if it is wrong, or ask the server's " +
      `operator for the address of ${monthAt(now)}`,
    { host, month, now },
  );
}

/** Reads the schedule that a server names, and checks everything except that it is the newest. */
async function readSchedule(
  payer: Payer,
  owner: ScheduleOwner,
  { path, digest }: ScheduleReference,
  source: ScheduleSource,
): Promise<SignedSchedule> {
  const { chain, pool } = payer;
  const { origin, signal } = source;
  const mismatch = (field: string, text: readonly MessagePart[]) => {
    const what = message`the address schedule of ${origin} at ${foreign(path)} ${{ parts: text }}; nothing was paid; ask the server's operator to publish the schedule that its 402 names`;
    return new FetchError("SCHEDULE_MISMATCH", what, { host: new URL(origin).host, field });
  };
  const signed = parse(await download(path, source), (reason) => mismatch("format", message`is invalid: ${reason}`));
  const { schedule, signature } = signed;
  const expected = { digest, wallet: owner.wallet, ownerTag: owner.ownerTag, chainId: pool.chainId, pool: pool.pool };
  const found = { ...schedule, digest: scheduleDigest(schedule) };
  for (const field of Object.keys(FIELDS) as (keyof typeof FIELDS)[])
    if (found[field] !== expected[field]) throw mismatch(field, message`has another ${FIELDS[field]} than the 402`);
  const problem = await checkSchedule(schedule, signature, signatureCall(abortable(chain, signal)), payer.now());
  if (problem !== undefined) throw mismatch("signature", message`cannot be trusted: ${problem}`);
  return signed;
}

function parse(body: Uint8Array, invalid: (reason: SottoError | string) => FetchError): SignedSchedule {
  try {
    return parseSchedule(JSON.parse(new TextDecoder().decode(body)));
  } catch (error) {
    throw invalid(error instanceof SottoError ? error : "it is not JSON");
  }
}

/** @throws FetchError SCHEDULE_UNAVAILABLE; the signal's reason */
async function download(path: string, { origin, fetch: send, signal, timeoutMs = TIMEOUT_MS }: ScheduleSource) {
  const { host } = new URL(origin);
  const unavailable = (text: string | readonly MessagePart[], cause?: unknown) => {
    const parts = typeof text === "string" ? [text] : text;
    const what = message`the address schedule is not available: ${{ parts }}; nothing was paid; try again later`;
    return new FetchError("SCHEDULE_UNAVAILABLE", what, { host }, { cause });
  };
  // The path begins with one slash, so it names no other host.
  const limits = { name: origin, maxBytes: MAX_SCHEDULE_LENGTH, timeoutMs, signal };
  const answer = await exchange(send, origin + path, {}, limits, (_, text, cause) => unavailable(text, cause));
  if (answer.status === 200) return answer.body;
  throw unavailable(message`${origin} answers with status ${answer.status} at ${foreign(path)}`);
}
