import {
  type Address,
  type AddressSchedule,
  deriveKeys,
  type Month,
  monthAt,
  type SignedSchedule,
  scheduleDigest,
  scheduleJson,
  scheduleTypedData,
  type WalletKeys,
} from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import type { WalletOptions } from "@sotto/wallet";
import type { BaseWallet, HDNodeWallet } from "ethers";
import type { World } from "../../../wallet/test/support/world.ts";
import { type SignedBinding, signBinding } from "../../src/phone/link.ts";
import { signTyped } from "../../src/phone/lookup.ts";
import { Merchant, newIdentity } from "./merchant.ts";
import { cast, ORIGIN, Scene } from "./scene.ts";

const PLACE = { chainId: 31337n, pool: POOL as Address } as const;
const PATH = "/.well-known/sotto/addresses";

export const seedOf = (first: number): Uint8Array => new Uint8Array(32).map((_, i) => 11 * i + first);
export const keysOf = (first: number): WalletKeys => deriveKeys(seedOf(first), PLACE);

/** A schedule of these months' addresses, signed by the account. */
export async function signSchedule(
  keys: WalletKeys,
  account: BaseWallet,
  months: readonly Month[],
  changes: Partial<AddressSchedule> = {},
): Promise<SignedSchedule> {
  const schedule: AddressSchedule = {
    ...PLACE,
    wallet: account.address.toLowerCase() as Address,
    ownerTag: keys.ownerTag(0),
    sequence: 1,
    issuedAt: 1_799_999_700,
    firstMonth: months[0]!,
    keys: months.map((month) => keys.ofMonth(month).shieldedAddress.slice(0, 66)),
    ...changes,
  };
  return { schedule, signature: await signTyped(account, scheduleTypedData(schedule)) };
}

/** What a thief of the account's key can sign. */
interface Forged {
  readonly keys?: WalletKeys;
  readonly account?: HDNodeWallet;
  readonly ownerTag?: bigint;
}

const bytes32 = (value: bigint): string => value.toString(16).padStart(64, "0");

/** A merchant with an address for each month. */
export class MonthMerchant extends Merchant {
  readonly keys: WalletKeys;
  /** What it asks to be paid at: a month's address, or the lasting one. Default: that of the month. */
  asked: Month | "lasting" | undefined;
  /** The schedule that its 402 names. */
  follows: SignedSchedule | undefined;
  /** Its answer at the schedule's path. */
  publish: (init: RequestInit) => Response | Promise<Response> = () => Response.json(scheduleJson(this.follows!));
  /** Requests for the schedule. */
  readonly fetched: RequestInit[] = [];
  readonly #bindings: ReadonlyMap<string, SignedBinding>;

  private constructor(
    identity: ConstructorParameters<typeof Merchant>[0],
    keys: WalletKeys,
    bindings: ReadonlyMap<string, SignedBinding>,
  ) {
    super(identity);
    this.keys = keys;
    this.#bindings = bindings;
  }

  /** @param months those whose addresses its account signs */
  static async open(world: World, months: readonly Month[], { keys = keysOf(7), account, ownerTag }: Forged = {}) {
    const owner = { pool: PLACE, now: world.clock, shieldedAddress: keys.shieldedAddress() };
    const fresh = await newIdentity(world, owner as never, ORIGIN);
    const identity = account === undefined ? fresh : { ...fresh, account };
    const bindings = new Map<string, SignedBinding>();
    for (const name of ["lasting", ...months]) {
      const own = name === "lasting" ? owner.shieldedAddress : keys.ofMonth(name as Month).shieldedAddress;
      const shieldedAddress = ownerTag === undefined ? own : own.slice(0, 66) + bytes32(ownerTag);
      bindings.set(name, await signBinding({ ...owner, shieldedAddress }, identity.account));
    }
    const merchant = new MonthMerchant(identity, keys, bindings);
    merchant.follows = await merchant.sign(months, ownerTag === undefined ? {} : { ownerTag });
    return merchant;
  }

  /** Another schedule of the same account. */
  sign(months: readonly Month[], changes: Partial<AddressSchedule> = {}): Promise<SignedSchedule> {
    return signSchedule(this.keys, this.account, months, changes);
  }

  addressOf(month: Month | "lasting"): string {
    return this.#bindings.get(month)!.binding.key;
  }

  protected override recipient() {
    const month = this.asked ?? monthAt(this.identity.world.clock());
    const schedule = this.follows && { path: PATH, digest: scheduleDigest(this.follows.schedule) };
    return { ...this.#bindings.get(month)!, schedule };
  }

  protected override route(target: string, init: RequestInit) {
    if (target !== PATH) return undefined;
    this.fetched.push(init);
    return this.publish(init);
  }
}

/** A payer and a merchant with addresses of these months. */
export async function openMonthScene(
  months: readonly Month[],
  changes: Partial<WalletOptions> = {},
  shared?: World,
): Promise<Scene<MonthMerchant>> {
  return new Scene(await cast((world) => MonthMerchant.open(world, months), changes, shared));
}
