// The mirror of prepaid keys in a running service: signatures of contract wallets, which only the chain can check, and
// what the service logs.

import { encodeSignedSchedule, scheduleTypedData } from "@sotto/prepaid";
import type { Address } from "@sotto/protocol";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import {
  ANSWER,
  account,
  contractWallet,
  futureWallet,
  type Signer,
  troublesome,
} from "@sotto/test-world/contract-wallets";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { newMerchant, ORIGIN } from "../../packages/prepaid/test/service/support/schedules.ts";

describe("a service's mirror of prepaid keys", function () {
  slow(this, "a chain and a service");
  let world: World;
  let service: TestService;
  before(async () => {
    world = await openWorld();
    service = await openService();
  });
  after(() => service.close());

  async function push({ address, sign }: Signer) {
    const schedule = newMerchant(world).schedule({ wallet: address as Address });
    const signed = encodeSignedSchedule({ schedule, signature: await sign(scheduleTypedData(schedule)) });
    const { status, body } = await post(`${service.url}/prepaid/schedules`, signed);
    const query = new URLSearchParams({ wallet: address, origin: ORIGIN });
    const { schedules } = (await call(`${service.url}/prepaid/schedules?${query}`)).body as { schedules: object[] };
    const kept = schedules.map((each) => ({ ...each, receivedAt: undefined }));
    expect(kept).to.deep.equal(status === 201 ? [{ ...signed, receivedAt: undefined }] : []);
    return body["code"] ?? status;
  }

  it("accepts signatures of accounts and of contract wallets, deployed or not", async () => {
    for (const signer of [account(), await contractWallet(world), await futureWallet(world)])
      expect(await push(signer)).to.equal(201);
  });

  it("refuses a signature that the contract wallet does not accept", async () => {
    const stranger = account();
    for (const { address } of [await contractWallet(world), await futureWallet(world), account()])
      expect(await push({ address, sign: stranger.sign })).to.equal("PREPAID_SIGNATURE_INVALID");
    for (const answer of [ANSWER.Revert, ANSWER.RevertWithMagic, ANSWER.BurnGas, ANSWER.HugeReturn]) {
      const address = await troublesome(world, answer);
      expect(await push({ address, sign: stranger.sign }), String(answer)).to.equal("PREPAID_SIGNATURE_INVALID");
    }
  });

  it("counts pushes by result, and logs no wallet, origin or signature", async () => {
    const text = await (await fetch(`${service.origin}/metrics`)).text();
    expect(text).to.match(/sotto_prepaid_pushes_total\{result="accepted"\} 3/);
    expect(text).to.match(/sotto_prepaid_pushes_total\{result="PREPAID_SIGNATURE_INVALID"\} 7/);
    const log = service.logged.join("");
    expect(log).to.include("/prepaid/schedules");
    expect(log).to.not.include("data.example");
    expect(log).to.not.match(/wallet=|0x[0-9a-f]{130}/);
  });
});
