// Numbers of deployed and undeployed contract wallets, and registries that answer only signed lookups.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LookupSigner, lookUpPhone, payPhone, phonePin } from "@sotto/client";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { SottoService, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { AbiCoder, Wallet as Account, type Contract, ContractFactory, concat } from "ethers";
import { Phones } from "./support/phones.ts";

const ARTIFACTS = join(import.meta.dirname, "..", "..", "artifacts", "contracts", "test");
const WRAPPED = `0x${"6492".repeat(16)}`;
const SALT = `0x${"09".repeat(32)}`;

describe("paying a phone number", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let phones: Phones;
  let payer: Wallet;
  before(async () => {
    world = await openWorld();
    phones = await Phones.open(world);
    payer = await payerWith(world, [100_000n, 100_000n]);
  });
  after(() => phones?.close());

  const pay = (phone: string) =>
    payPhone(payer, world.service, { phone, amount: 1_000n, key: "gift", registry: phones.client });

  async function factory(): Promise<Contract> {
    const path = join(ARTIFACTS, "ContractWalletFactory.sol", "ContractWalletFactory.json");
    const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8"));
    const contract = await new ContractFactory(abi, bytecode, world.depositor).deploy();
    await contract.waitForDeployment();
    return contract as Contract;
  }

  for (const deployed of [true, false])
    it(`of a contract wallet that is ${deployed ? "deployed" : "not deployed yet"}`, async () => {
      const [maker, owner, phone] = [await factory(), Account.createRandom(), phones.newNumber()];
      const address = String(await maker.getFunction("addressOf")(owner.address, SALT));
      if (deployed) await (await maker.getFunction("create")(owner.address, SALT)).wait();
      const creation = maker.interface.encodeFunctionData("create", [owner.address, SALT]);
      const target = await maker.getAddress();
      const account: LookupSigner = {
        getAddress: async () => address,
        async signTypedData(...typed) {
          const inner = await owner.signTypedData(...typed);
          const body = AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [target, creation, inner]);
          return deployed ? inner : concat([body, WRAPPED]);
        },
      };
      const wallet = await openWallet(world);
      await phones.link(phone, { account, wallet });
      expect((await pay(phone)).wallet).to.equal(address.toLowerCase());
      await wallet.scan();
      expect(wallet.balance().total).to.equal(1_000n);
      if (!deployed) expect(await world.provider.getCode(address)).to.equal("0x");
    });

  it("signs a new nonce after the response to a signed lookup was lost", async () => {
    const closed = closedAfterTest(await Phones.open(world, { SOTTO_PHONE_SIGNED_LOOKUPS: "on" }));
    const [phone, friend] = [closed.newNumber(), closed.person(await openWallet(world))];
    await closed.link(phone, friend);
    let lost = 0;
    const losing: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (lost++ > 0) return response;
      await response.body?.cancel();
      throw new TypeError("the connection was cut");
    };
    const registry = new SottoService(closed.url, { fetch: losing });
    const found = await lookUpPhone(payer, registry, phone, { signer: Account.createRandom() });
    expect(found.wallet).to.equal(friend.account.address.toLowerCase());
    // Retries once only, so that a registry that refuses everything is not asked forever.
    let asked = 0;
    const refusing: typeof fetch = async () => {
      asked += 1;
      return Response.json({ error: "Unauthorized", message: "no", code: "NONCE_REFUSED" }, { status: 401 });
    };
    const stubborn = new SottoService(closed.url, { fetch: refusing });
    const error = await rejection(lookUpPhone(payer, stubborn, phone, { signer: Account.createRandom() }));
    expect([error.details["reason"], asked]).to.deep.equal(["NONCE_REFUSED", 2]);
  });

  it("works with a registry that requires signed lookups", async () => {
    const closed = closedAfterTest(await Phones.open(world, { SOTTO_PHONE_SIGNED_LOOKUPS: "on" }));
    const [phone, friend] = [closed.newNumber(), closed.person(await openWallet(world))];
    await closed.link(phone, friend);
    const request = { phone, amount: 1_000n, key: "gift", registry: closed.client };
    const error = await rejection(payPhone(payer, world.service, request));
    expect(error.details).to.include({ status: 401, reason: "LOOKUP_SIGNATURE_REQUIRED" });
    const signer = Account.createRandom();
    const paid = await payPhone(payer, world.service, request, { signer });
    expect(paid.wallet).to.equal(friend.account.address.toLowerCase());
    expect((await phonePin(payer.store, phone))?.registry).to.equal(closed.url);
    const liar: LookupSigner = {
      getAddress: () => signer.getAddress(),
      signTypedData: (...typed) => Account.createRandom().signTypedData(...typed),
    };
    const refused = await rejection(lookUpPhone(payer, closed.client, phone, { signer: liar }));
    expect(refused.details).to.include({ reason: "SIGNATURE_INVALID" });
  });
});
