// Statements of totals of several addresses of one wallet: one for each month's address, in one document.
import { type ChainSource, signatureCall } from "@sotto/chain";
import {
  type Address,
  addressInSchedule,
  decodeShieldedAddress,
  MAX_VIEWING_KEYS,
  type Month,
  ProtocolError,
  parseMonth,
  type SignedSchedule,
  scheduleDigest,
  scheduleMonths,
  verifyWalletSignature,
} from "@sotto/protocol";
import { ReceiptError } from "../errors.ts";
import { malformed, reading } from "../parse.ts";
import { type AssertTotalsOptions, assertTotals, type CheckedTotals } from "./check.ts";
import { coversMonth } from "./month-blocks.ts";
import type { TotalsStatement } from "./statement.ts";

const WHAT = "statements of totals";
const TYPE = "sotto-totals";
const VERSION = 2;
const NO_WALLET = `0x${"00".repeat(20)}`;

/** The statement of one address, and the month that the address belongs to, as the author says. */
export interface TotalsPart {
  /** Undefined for the lasting address. */
  readonly month?: Month | undefined;
  /** What was paid to the address. */
  readonly statement: TotalsStatement;
}

/** Statements of totals as JSON. */
export interface TotalsDocument {
  /** Names the format. */
  readonly type: typeof TYPE;
  /** Version of the format. Version 1 is a single `TotalsStatement`. */
  readonly version: typeof VERSION;
  /** 1 to MAX_VIEWING_KEYS. */
  readonly statements: readonly TotalsPart[];
}

/** Joins statements of one wallet's addresses to the document that an auditor gets. */
export function totalsDocument(parts: readonly TotalsPart[]): TotalsDocument {
  const statements = parts.map(({ month, statement }) => (month === undefined ? { statement } : { month, statement }));
  return { type: TYPE, version: VERSION, statements };
}

/** What statements are checked against. */
export interface AssertTotalsDocumentOptions extends AssertTotalsOptions {
  /** The pool's first block, before which there are no payments. Default: 0. */
  deploymentBlock?: number | undefined;
  /** Schedules that the owner signed: they say which address is of which month. Default: none. */
  schedules?: readonly SignedSchedule[] | undefined;
}

/** The checked statement of one address. */
export interface CheckedPart extends CheckedTotals {
  /** The month of the address: as a schedule says if `isScheduled`, else as the author says. Undefined for the lasting address. */
  month: Month | undefined;
  /** Whether a given schedule lists the address for that month. */
  isScheduled: boolean;
  /** Whether the blocks are all that may have payments to the month's address. False without a month. */
  isWholeMonth: boolean;
}

/** What checked statements prove together. Amounts in base units. */
export interface CheckedDocument {
  /** EIP-155 id. */
  chainId: bigint;
  /** The pool of the payments. */
  pool: Address;
  /** The wallet address that the payers of the hidden payments named; address zero if no amount is hidden. */
  wallet: Address;
  /** tag_0 of the wallet, the second half of each address. */
  ownerTag: bigint;
  /** The auditor that the statements name. */
  auditor: string;
  /** Total paid to all addresses in the blocks of their statements. */
  total: bigint;
  /** Number of these payments. */
  payments: number;
  /** One for each address, in the order of months, the lasting address first. */
  parts: CheckedPart[];
  /** Months that a given schedule lists and no statement is of, in order. */
  missing: Month[];
}

/** @throws ReceiptError RECEIPT_MALFORMED */
function parseDocument(value: unknown): readonly TotalsPart[] {
  const { type, version, statements } = Object(value) as Record<string, unknown>;
  // The check of the one statement finds what is malformed.
  if (type !== TYPE || version !== VERSION) return [{ statement: value as TotalsStatement }];
  if (!Array.isArray(statements) || statements.length === 0 || statements.length > MAX_VIEWING_KEYS)
    throw malformed(WHAT, `it must have 1 to ${MAX_VIEWING_KEYS} statements`);
  return reading(WHAT, () =>
    statements.map((part: unknown) => {
      const { month, statement } = Object(part) as Record<string, unknown>;
      return {
        month: month === undefined ? undefined : parseMonth(month),
        statement: statement as TotalsStatement,
      };
    }),
  );
}

const invalid = (problem: string): ReceiptError =>
  new ReceiptError("RECEIPT_INVALID", `the statements contradict each other: ${problem}`);

type Listed = ReadonlyMap<string, Month>;

const nameOf = (month: Month | undefined): string => month ?? "the lasting address";

/** Statements of different auditors, wallets or equal addresses would be added to a sum that means nothing. */
function assertOneWallet(parts: readonly CheckedTotals[]): bigint {
  const same = (name: string, values: readonly unknown[]) => {
    if (new Set(values).size > 1) throw invalid(`they name several ${name}`);
  };
  const tags = parts.map(({ shieldedAddress }) => decodeShieldedAddress(shieldedAddress).ownerTag);
  same(
    "auditors",
    parts.map(({ auditor }) => auditor),
  );
  same(
    "wallets",
    parts.map(({ wallet }) => wallet),
  );
  same("owners", tags);
  const addresses = parts.map(({ shieldedAddress }) => shieldedAddress.toLowerCase());
  if (new Set(addresses).size < addresses.length) throw invalid("two are of the same address");
  return tags[0]!;
}

/**
 * The addresses of schedules, and their months.
 * @throws SottoError SCHEDULE_INVALID, BINDING_UNCHECKED; ReceiptError RECEIPT_ELSEWHERE
 */
async function listedBy(
  schedules: readonly SignedSchedule[],
  { chainId, pool, wallet, ownerTag }: Pick<CheckedDocument, "chainId" | "pool" | "wallet" | "ownerTag">,
  chain: ChainSource,
): Promise<Listed> {
  const listed = new Map<string, Month>();
  for (const { schedule, signature } of schedules) {
    // Its age does not matter: auditors read the schedules of earlier years.
    if (!(await verifyWalletSignature(schedule.wallet, scheduleDigest(schedule), signature, signatureCall(chain))))
      throw new ProtocolError("SCHEDULE_INVALID", `the wallet ${schedule.wallet} did not sign the schedule`);
    const isOfWallet = wallet === NO_WALLET || schedule.wallet === wallet;
    if (!isOfWallet || schedule.ownerTag !== ownerTag || schedule.chainId !== chainId || schedule.pool !== pool)
      throw new ReceiptError(
        "RECEIPT_ELSEWHERE",
        `the schedule is of another wallet or pool than the statements: it is of wallet ${schedule.wallet}, pool ${schedule.pool} on chain ${schedule.chainId}`,
      );
    for (const month of scheduleMonths(schedule)) listed.set(addressInSchedule(schedule, month)!, month);
  }
  return listed;
}

/** The month of a statement. @throws ReceiptError RECEIPT_INVALID if the author says something else than a schedule */
function monthOf(said: Month | undefined, { shieldedAddress }: CheckedTotals, listed: Listed) {
  const found = listed.get(shieldedAddress.toLowerCase());
  if (found !== undefined && said !== undefined && said !== found)
    throw invalid(`the statement of ${said} is of the address that the schedule lists for ${found}`);
  if (found === undefined && said !== undefined && [...listed.values()].includes(said))
    throw invalid(`the statement of ${said} is not of the address that the schedule lists for it`);
  return { month: found ?? said, isScheduled: found !== undefined };
}

/**
 * Checks statements of totals, or a single one, against the chain: each of them as `assertTotals` does, that all are of one
 * wallet and auditor, and that their months are those of the owner's schedules.
 * @throws ReceiptError as `assertTotals`; SottoError SCHEDULE_INVALID, BINDING_UNCHECKED; ChainError
 */
export async function assertTotalsDocument(
  value: unknown,
  options: AssertTotalsDocumentOptions,
): Promise<CheckedDocument> {
  const { chain, deploymentBlock = 0, schedules = [] } = options;
  const given = parseDocument(value);
  const checked: { readonly said: Month | undefined; readonly totals: CheckedTotals }[] = [];
  for (const { month: said, statement } of given)
    checked.push({ said, totals: await assertTotals(statement, options) });
  const all = checked.map(({ totals }) => totals);
  const ownerTag = assertOneWallet(all);
  const { chainId, pool, wallet, auditor } = all[0]!;
  const listed = await listedBy(schedules, { chainId, pool, wallet, ownerTag }, chain);
  const parts: CheckedPart[] = [];
  for (const { said, totals } of checked) {
    const { month, isScheduled } = monthOf(said, totals, listed);
    if (parts.some((part) => part.month === month)) throw invalid(`two are of ${nameOf(month)}`);
    const isWholeMonth = month !== undefined && (await coversMonth(chain, month, { ...totals, deploymentBlock }));
    parts.push({ ...totals, month, isScheduled, isWholeMonth });
  }
  parts.sort((a, b) => ((a.month ?? "") < (b.month ?? "") ? -1 : 1));
  const total = parts.reduce((sum, part) => sum + part.total, 0n);
  const payments = parts.reduce((sum, part) => sum + part.payments, 0);
  const missing = [...new Set(listed.values())].filter((month) => !parts.some((part) => part.month === month)).sort();
  return { chainId, pool, wallet, ownerTag, auditor, total, payments, parts, missing };
}
