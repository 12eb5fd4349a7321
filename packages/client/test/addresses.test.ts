import {
  addMonths,
  addressInSchedule,
  checkMonthAddresses,
  deriveKeys,
  type Month,
  monthStart,
  parseMonth,
  scheduleMonths,
  type WalletKeys,
} from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet } from "ethers";
import { type AddressesOptions, signAddresses } from "../src/index.ts";

const pool = { chainId: 31337n, pool: `0x${"11".repeat(20)}` } as const;
const keys: WalletKeys = deriveKeys(new Uint8Array(32).fill(7), pool);
const account = Wallet.createRandom();
const NOW = Date.UTC(2026, 11, 15, 8, 3, 4, 5);
const asking = async () => expect.fail("the account is not a contract");

const sign = (options?: AddressesOptions, now = NOW) =>
  signAddresses(
    { pool, now: () => now, addressOfMonth: (month) => keys.ofMonth(month).shieldedAddress },
    account,
    options,
  );

describe("signing the addresses of months", () => {
  it("signs this month and eleven more by default", async () => {
    const addresses = await sign();
    const { schedule, bindings } = addresses;
    expect(scheduleMonths(schedule)).to.deep.equal(
      Array.from({ length: 12 }, (_, i) => addMonths(parseMonth("2026-12"), i)),
    );
    for (const { month, binding } of bindings) {
      expect(binding.key).to.equal(keys.ofMonth(month).shieldedAddress);
      expect(binding.key).to.equal(addressInSchedule(schedule, month));
      expect(binding.wallet).to.equal(account.address.toLowerCase());
    }
    expect(schedule.ownerTag).to.equal(keys.ownerTag(0));
    expect(schedule.issuedAt).to.equal(Date.UTC(2026, 11, 15, 8, 0, 0) / 1000);
    expect(await checkMonthAddresses(addresses, asking, NOW)).to.equal(undefined);
    // Signatures outlive the last month.
    const last = monthStart(parseMonth("2027-11"));
    expect(await checkMonthAddresses(addresses, asking, last + 30 * 86_400_000 - 1)).to.equal(undefined);
  });

  it("gives a later schedule a higher sequence, a second later at the earliest", async () => {
    const sequence = async (now: number) => (await sign({}, now)).schedule.sequence;
    expect(await sequence(NOW + 1_000)).to.equal((await sequence(NOW)) + 1);
    expect((await sign({ sequence: 7 })).schedule.sequence).to.equal(7);
  });

  it("signs other months, and a phone number, if asked", async () => {
    const options = { months: 1, firstMonth: parseMonth("2027-03"), phone: "+49 1555 0123456" };
    const { bindings, schedule } = await sign({ ...options, service: "https://phones.example/zk/" });
    expect(scheduleMonths(schedule)).to.deep.equal(["2027-03"]);
    expect(bindings[0]!.binding).to.include({ phone: "+4915550123456", service: "https://phones.example/zk" });
  });

  it("refuses months that the signatures would not outlive", async () => {
    expect((await sign({ months: 13 })).bindings).to.have.length(13);
    const later = parseMonth("2027-02");
    const error = await expectRejected("SCHEDULE_INVALID", () => sign({ firstMonth: later }));
    expect(error.message).to.match(/2028-01.*400 days.*fewer months/);
    expect((await sign({ firstMonth: later, months: 11 })).bindings).to.have.length(11);
  });

  it("refuses numbers of months and sequences that no schedule has", async () => {
    for (const months of [0, 14, 1.5, -1, Number.NaN, "3", null])
      await expectRejected("SCHEDULE_INVALID", () => sign({ months: months as number }));
    for (const sequence of [0, -1, 0.5, 2 ** 53]) await expectRejected("SCHEDULE_INVALID", () => sign({ sequence }));
    await expectRejected("INVALID_MONTH", () => sign({ firstMonth: "2027-13" as Month }));
    await expectRejected("PHONE_NUMBER_INVALID", () => sign({ phone: "555" }));
  });
});
