import { approveCall, type ContractCall, type DepositRequest, depositCall } from "@sotto/chain/ethers";
import { addressOwnerTag, assertAmount, parseAddress } from "@sotto/protocol";
import { randomBytes, toBigInt } from "ethers";
import { WalletError } from "../errors.ts";
import { DEPOSIT_GAP } from "../scan/scanner.ts";
import { parseCount } from "./connect.ts";
import type { WalletCore } from "./core.ts";
import { parseDepositAmounts, signDeposit, totalOf } from "./deposit.ts";
import type { DepositSigner } from "./deposit-signer.ts";
import { assertTokens } from "./token.ts";

/** Maximum seconds by which the clock, which sets the authorization's times, may be behind the chain. */
const MAX_LAG = 30;

/** The notes that a deposit creates. */
export interface DepositOptions {
  /** Base units of each note, 1 to 64 notes. Parallel payments need one note each (`splitAmount`). */
  amounts: readonly bigint[];
  /** The account that will send the calls. If given, its balance is checked. */
  account?: string | undefined;
}

/** The calls that the depositor's account sends: first `approve`, then `deposit`. */
export interface DepositCalls {
  /** Index of the spending key that will own the notes. */
  keyIndex: number;
  /** The token's `approve` for the pool. */
  approve: ContractCall;
  /** The pool's `deposit`. */
  deposit: ContractCall;
}

/** The deposit that an account authorizes. */
export interface AuthorizeOptions {
  /** Base units of each note, 1 to 64 notes. */
  amounts: readonly bigint[];
  /** The depositor's account. It signs the deposit, and needs tokens but no ETH. */
  account: DepositSigner;
  /**
   * The submitter, if it takes a fee. The fee is one more note, in addition to `amounts`, so that the signature binds
   * it.
   */
  sponsor?: { shieldedAddress: string; fee: bigint } | undefined;
  /** Seconds during which the deposit may be submitted, 60 to 86,400. Default: 1,800. */
  validFor?: number | undefined;
}

/**
 * The two calls of a deposit by approval.
 * @throws the errors of `parseDepositAmounts`; WalletError INSUFFICIENT_TOKENS
 */
export async function depositCalls(core: WalletCore, options: DepositOptions): Promise<DepositCalls> {
  const { chain, info } = core.options;
  const amounts = parseDepositAmounts(Object(options).amounts, info);
  const total = totalOf(amounts);
  if (options.account !== undefined) await assertTokens(chain, info, parseAddress(options.account, "account"), total);
  const { keyIndex, ownerTag } = await openTag(core, amounts);
  const ownerTags = amounts.map(() => ownerTag);
  return {
    keyIndex,
    approve: approveCall(info.token, info.pool, total),
    deposit: depositCall(info.pool, ownerTags, amounts),
  };
}

/** A deposit that its depositor signed. */
export interface SignedDeposit {
  /** Index of the owner tag of the wallet's notes. */
  keyIndex: number;
  request: DepositRequest;
}

/** A deposit that the depositor signs and anyone may submit. A sponsor's fee is one of its notes. */
export async function signedDeposit(core: WalletCore, options: AuthorizeOptions): Promise<SignedDeposit> {
  const { chain, info } = core.options;
  const own = parseDepositAmounts(Object(options).amounts, info);
  const validFor = parseCount(options.validFor ?? 1_800, "validFor", 60, 86_400);
  if (typeof options.account?.signTypedData !== "function")
    throw new WalletError("INVALID_OPTION", "account must be an ethers signer that can sign typed data");
  const sponsor = options.sponsor && {
    ownerTag: addressOwnerTag(options.sponsor.shieldedAddress),
    fee: assertAmount(options.sponsor.fee, "sponsor.fee"),
  };
  const amounts = parseDepositAmounts(sponsor ? [...own, sponsor.fee] : own, info);
  await assertTokens(chain, info, parseAddress(await options.account.getAddress()), totalOf(amounts));
  const { keyIndex, ownerTag } = await openTag(core, own);
  const ownerTags = [...own.map(() => ownerTag), ...(sponsor ? [sponsor.ownerTag] : [])];
  const validBefore = BigInt(Math.floor(core.now(MAX_LAG) / 1000) + validFor);
  return { keyIndex, request: await signDeposit(chain, info, options.account, { ownerTags, amounts }, validBefore) };
}

/**
 * Chooses a fresh owner tag and journals it before it is used. Deposits show their tag on chain, so a reused tag would
 * link them. The index is random among the first hundred unused ones, because another device with the same seed may
 * choose one at the same time. A restored wallet searches only up to the gap limit, so an index beyond it is never
 * used: if all are used, the oldest one whose deposit never arrived is reused.
 */
function openTag(core: WalletCore, amounts: readonly bigint[]): Promise<{ keyIndex: number; ownerTag: bigint }> {
  return core.lock.run(async () => {
    await core.scan();
    core.now(MAX_LAG);
    const { ledger, confirmed } = core.sync;
    const { deposits } = core.journal;
    const landed = new Set<number>();
    let highest = 0;
    for (const { keyIndex, blockNumber } of ledger.notes.values()) {
      landed.add(keyIndex);
      // The gap counts from final tags, because no reorganization removes them.
      if (blockNumber <= (confirmed?.number ?? -1)) highest = Math.max(highest, keyIndex);
    }
    const free: number[] = [];
    for (let index = 1; index <= highest + DEPOSIT_GAP && free.length < DEPOSIT_GAP; index += 1)
      if (!landed.has(index) && !deposits.has(index)) free.push(index);
    const lost = [...deposits.values()].filter((deposit) => !landed.has(deposit.keyIndex));
    const oldest = lost.sort((a, b) => a.created - b.created)[0]?.keyIndex;
    const keyIndex = free[Number(toBigInt(randomBytes(8)) % BigInt(free.length || 1))] ?? oldest!;
    await core.journal.beginDeposit({ keyIndex, amounts: amounts.map(String), created: core.options.clock() });
    return { keyIndex, ownerTag: core.options.keys.ownerTag(keyIndex) };
  });
}
