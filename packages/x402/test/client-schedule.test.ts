// The scheme's client and the addresses of months, with a wallet on a chain in memory.

import { signBinding } from "@sotto/client";
import {
  type Address,
  type AddressSchedule,
  addMonths,
  deriveKeys,
  type Month,
  monthEnd,
  parseMonth,
  type SignedSchedule,
  scheduleDigest,
  scheduleJson,
  scheduleTypedData,
} from "@sotto/protocol";
import { X402_SCHEME, x402Network } from "@sotto/protocol/x402";
import { expectRejected } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { AbiCoder, Wallet as Account, id } from "ethers";
import { World } from "../../wallet/test/support/world.ts";
import { SottoScheme } from "../src/client.ts";
import type { PaymentRequirements } from "../src/types.ts";

const JANUARY = parseMonth("2027-01");
const FEBRUARY = addMonths(JANUARY, 1);
/** Seconds. */
const END = monthEnd(JANUARY) / 1000;
const PATH = "/.well-known/sotto/addresses";
const ORIGIN = "https://data.example";
const SERVICE = "https://pay.example/zk";
const account = Account.createRandom();

describe("the scheme's client and the addresses of months", () => {
  let world: World;
  let payer: Wallet;
  let scheme: SottoScheme;
  let followed: SignedSchedule;
  let fetched: string[];
  let requirements: (month: Month | "lasting", named?: SignedSchedule | null) => Promise<PaymentRequirements>;

  beforeEach(async () => {
    world = new World();
    world.chain.validation = `0x${"0".repeat(64)}`;
    const symbol = id("symbol()").slice(0, 10);
    const call = world.chain.call.bind(world.chain);
    world.chain.call = async (asked, block) =>
      asked.data === symbol ? AbiCoder.defaultAbiCoder().encode(["string"], ["USDC"]) : call(asked, block);
    payer = await world.funded([5_000n, 6_000n]);
    const pool = { chainId: payer.pool.chainId, pool: payer.pool.pool as Address };
    const keys = deriveKeys(
      new Uint8Array(32).map((_, i) => 3 * i + 1),
      pool,
    );
    const sign = async (months: Month[], sequence: number): Promise<SignedSchedule> => {
      const schedule: AddressSchedule = {
        ...pool,
        wallet: account.address.toLowerCase() as Address,
        ownerTag: keys.ownerTag(0),
        sequence,
        issuedAt: 1_799_999_700,
        firstMonth: months[0]!,
        keys: months.map((month) => keys.ofMonth(month).shieldedAddress.slice(0, 66)),
      };
      const { domain, types, message } = scheduleTypedData(schedule);
      return { schedule, signature: await account.signTypedData({ ...domain }, { ...types }, { ...message }) };
    };
    followed = await sign([JANUARY, FEBRUARY], 1);
    fetched = [];
    const send: typeof fetch = async (url) => {
      fetched.push(String(url));
      return Response.json(scheduleJson(followed));
    };
    scheme = await SottoScheme.open({ wallet: payer, services: [SERVICE], fetch: send });
    requirements = async (month, named = followed) => {
      const { shieldedAddress } =
        month === "lasting" ? { shieldedAddress: keys.shieldedAddress() } : keys.ofMonth(month);
      const { binding, signature } = await signBinding({ pool, now: world.clock, shieldedAddress }, account);
      return {
        scheme: X402_SCHEME,
        network: x402Network(pool.chainId),
        asset: payer.pool.token,
        amount: "1000",
        payTo: binding.wallet,
        maxTimeoutSeconds: 300,
        extra: {
          pool: pool.pool,
          decimals: 6,
          resource: `${ORIGIN}/report`,
          service: SERVICE,
          recipient: { shieldedAddress, signature, issuedAt: binding.issuedAt },
          ...(named && { schedule: { path: PATH, digest: scheduleDigest(named.schedule) } }),
        },
      } as PaymentRequirements;
    };
  });
  afterEach(() => payer.close());
  const at = (seconds: number) => {
    world.chain.time = END + seconds - 12;
    world.chain.mine();
  };
  const pay = async (...asked: Parameters<typeof requirements>) =>
    scheme.createPaymentPayload(2, await requirements(...asked));
  const paid = async () => (await payer.payments({ decimals: 6 })).length;

  it("reads the schedule once, and pays the address of the month", async () => {
    await pay(JANUARY);
    await pay(JANUARY);
    expect(fetched).to.deep.equal([ORIGIN + PATH]);
    expect(await payer.store.list("schedule/")).to.have.length(1);
  });

  it("refuses the address of another month, and one that is not listed, with or without a schedule", async () => {
    await expectRejected("ADDRESS_OUTSIDE_MONTH", () => pay(FEBRUARY));
    await pay(JANUARY);
    await expectRejected("ADDRESS_NOT_LISTED", () => pay("lasting"));
    await expectRejected("ADDRESS_NOT_LISTED", () => pay("lasting", null));
    at(600);
    await expectRejected("ADDRESS_OUTSIDE_MONTH", () => pay(JANUARY));
    expect(await paid()).to.equal(1);
  });

  it("refuses another schedule than the one that is named, before anything is paid", async () => {
    const named = { ...followed, schedule: { ...followed.schedule, sequence: 2 } };
    await expectRejected("SCHEDULE_MISMATCH", () => pay(JANUARY, named));
    expect([await paid(), await payer.store.list("schedule/")]).to.deep.equal([0, []]);
  });

  it("pays a recipient without a schedule as before", async () => {
    await pay("lasting", null);
    expect([await paid(), fetched]).to.deep.equal([1, []]);
  });

  it("does not pay again at the next address while a payment whose response was lost may settle", async () => {
    at(-30);
    const { payload } = await pay(JANUARY);
    // A new process, which does not know that the payment was sent.
    scheme = await SottoScheme.open({ wallet: payer, services: [SERVICE], fetch: async () => Response.json({}) });
    at(10);
    const error = await expectRejected("X402_PAYMENT_UNDECIDED", () => pay(FEBRUARY));
    expect(error.message).to.include("repeat the request after");
    expect(await paid()).to.equal(1);
    at(400);
    await pay(FEBRUARY);
    expect(await paid()).to.equal(2);
    expect(payload["resourceUrl"]).to.equal(`${ORIGIN}/report`);
  });

  it("says once that a payment to the address of the month before has settled", async () => {
    at(-30);
    await pay(JANUARY);
    const payment = payer.history()[0]!.id;
    const proof = payer.proofOf(payment)!;
    world.settle(proof as never);
    scheme = await SottoScheme.open({ wallet: payer, services: [SERVICE], fetch: async () => Response.json({}) });
    at(10);
    const error = await expectRejected("X402_PAID_TOO_LONG_AGO", () => pay(FEBRUARY));
    expect(error.details["id"]).to.equal(payment);
    await pay(FEBRUARY);
    expect(await paid()).to.equal(2);
  });
});
