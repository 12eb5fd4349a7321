// A wallet does not conclude from what its first node lacks that an account has no tokens or that a contract wallet did not
// sign.

import { type LocalNode, startNode } from "@sotto/local/chain/node";
import {
  bindingSlots,
  bindingTypedData,
  deriveKeys,
  encodeShieldedAddress,
  parseAddress,
  randomSeed,
  verifyBindingSignature,
} from "@sotto/protocol";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { contractWallet } from "@sotto/test-world/contract-wallets";
import { openWallet, openWorld, type World } from "@sotto/test-world/wallets";
import { connectChain, signatureCall } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Contract } from "ethers";

const AMOUNT = 1_000_000n;

describe("a wallet whose first node is bad", function () {
  slow(this, "a chain and wallets");
  let world: World;
  let empty: LocalNode;
  let node: FaultyNode;
  before(async () => {
    world = await openWorld();
    empty = await startNode();
    node = await FaultyNode.start(world.node.url);
  });
  after(async () => {
    await node.stop();
    await empty.stop();
  });

  const become = (kind: "good" | "behind" | "empty" | "pruned") => {
    node.mode = kind === "behind" ? "isBehind" : kind === "pruned" ? "hasOnlyNewState" : "honest";
    node.target = kind === "empty" ? empty.url : world.node.url;
  };
  const connect = () => connectChain({ urls: [node.url, world.node.url], chainId: BigInt(world.chainId) });

  for (const kind of ["behind", "empty", "pruned"] as const) {
    it(`sees tokens that arrived just now if the node is ${kind}, and refuses an account without tokens`, async () => {
      become("good");
      const wallet = await openWallet(world, { chain: connect() });
      become(kind);
      const account = Account.createRandom().address;
      const refused = await rejection(wallet.deposit({ amounts: [AMOUNT], account }));
      expect(refused).to.include({ code: "INSUFFICIENT_TOKENS" });
      const token = new Contract(world.token, ["function mint(address, uint256)"], world.depositor);
      await (await token.getFunction("mint")(account, AMOUNT)).wait();
      expect(await wallet.deposit({ amounts: [AMOUNT], account })).to.have.property("approve");
    });

    it(`accepts the signature of a new contract wallet if the node is ${kind}, and refuses that of another`, async () => {
      become(kind);
      const [signer, other] = [await contractWallet(world), await contractWallet(world)];
      const { chainId, pool } = world;
      const keys = deriveKeys(randomSeed(), { chainId: BigInt(chainId), pool });
      const key = encodeShieldedAddress({ encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) });
      const [issuedAt = 0] = bindingSlots(Date.now());
      const wallet = parseAddress(signer.address);
      const place = {
        phone: "",
        wallet,
        key,
        chainId: BigInt(chainId),
        pool: parseAddress(pool),
        service: "",
        issuedAt,
      };
      const call = signatureCall(connect());
      expect(await verifyBindingSignature(place, await signer.sign(bindingTypedData(place)), call)).to.equal(true);
      expect(await verifyBindingSignature(place, await other.sign(bindingTypedData(place)), call)).to.equal(false);
    });
  }
});
