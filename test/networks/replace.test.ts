// Replaces a pool: any account can submit the withdrawal of the old pool's notes, and their owner deposits the tokens
// into the new pool with the same seed.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { deployPool } from "@sotto/deploy/deploy";
import { journalOf } from "@sotto/deploy/manifest-paths";
import { deployLocal } from "@sotto/local/chain/deployment";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import { slow } from "@sotto/test-kit/slow";
import {
  appendCall,
  type Chain,
  connectChain,
  createSeedWords,
  decodeEvent,
  ethersProvider,
  MemoryStore,
  NoteAppender,
  seedFromWords,
  sendCall,
  settleCall,
  ViewingWallet,
  Wallet,
  withdrawCall,
} from "@sotto/wallet";
import { expect } from "chai";
import { Contract, type JsonRpcApiProvider, type JsonRpcSigner } from "ethers";
import hre from "hardhat";

interface Place {
  readonly chain: Chain;
  readonly chainId: bigint;
  readonly pool: string;
  readonly deploymentBlock: number;
}

const MERCHANT = `0x${"ab".repeat(20)}`;
const NETWORK = `replace-${process.pid}`;

describe("replacing a pool", function () {
  slow(this, "deployments to a chain of their own");
  let node: LocalNode;
  let chain: Chain;
  let provider: JsonRpcApiProvider;
  let prover: Prover;
  let owner: JsonRpcSigner;
  let stranger: JsonRpcSigner;
  let token: Contract;
  let old: Place;
  let next: Place;
  const seed = seedFromWords(createSeedWords());

  const open = (place: Place) => Wallet.open({ ...place, seed, store: new MemoryStore(), prover, finality: 0 });
  const balance = async (address: string) => BigInt(await token.getFunction("balanceOf")(address));

  async function append({ pool, ...place }: Place): Promise<void> {
    const appender = await NoteAppender.open({ ...place, pool, store: new MemoryStore(), prover });
    for (await appender.scan(); appender.queued > 0; await appender.scan())
      await sendCall(stranger, appendCall(pool, (await appender.prepare()).append));
  }

  async function deposit(wallet: Wallet, place: Place, amounts: bigint[]): Promise<void> {
    const { approve, deposit: call } = await wallet.deposit({ amounts });
    await sendCall(owner, approve);
    await sendCall(owner, call);
    await append(place);
    await wallet.scan();
  }

  /** Owner tags that a pool's deposits reveal. */
  async function shownTags({ pool }: Place): Promise<bigint[]> {
    const events = (await chain.logs({ address: pool, from: 0, to: (await chain.head()).number })).map((log) =>
      decodeEvent(log),
    );
    return events.flatMap((event) => (event?.type === "deposited" ? [event.ownerTag] : []));
  }

  before(async () => {
    prover = createProver(await loadArtifacts({ folder: join(import.meta.dirname, "..", "..", "circuits", "build") }));
    node = await startNode();
    const local = await deployLocal(node.url);
    chain = connectChain({ urls: [node.url], chainId: BigInt(local.chainId) });
    provider = ethersProvider(chain);
    old = { chain, chainId: BigInt(local.chainId), pool: local.pool, deploymentBlock: local.deploymentBlock };
    const connection = await hre.network.create({ network: "localhost", override: { url: node.url } });
    const manifest = await deployPool(connection, { network: NETWORK, set: "development", token: local.token });
    await connection.close();
    next = { chain, chainId: old.chainId, pool: manifest.pool, deploymentBlock: manifest.deploymentBlock };
    [owner, stranger] = [await provider.getSigner(3), await provider.getSigner(4)];
    const functions = ["function mint(address,uint256)", "function balanceOf(address) view returns (uint256)"];
    token = new Contract(local.token, functions, owner);
    await (await token.getFunction("mint")(owner.address, 9_000_000n)).wait();
  });
  after(async () => {
    provider?.destroy();
    await prover?.close();
    await node?.stop();
    rmSync(join(journalOf(NETWORK), ".."), { recursive: true, force: true });
  });

  it("withdraws whole notes from the old pool through any account, without a service or an owner", async () => {
    const wallet = await open(old);
    await deposit(wallet, old, [5_000_000n, 3_000_000n]);
    expect(wallet.balance().spendable).to.equal(8_000_000n);
    expect(await balance(owner.address)).to.equal(1_000_000n);
    const { withdraw } = await wallet.exit({ recipient: owner.address.toLowerCase() });
    await sendCall(stranger, withdrawCall(old.pool, withdraw));
    await wallet.scan();
    expect(wallet.balance().total).to.equal(0n);
    expect(await balance(owner.address)).to.equal(9_000_000n);
    expect(await balance(old.pool)).to.equal(0n);
  });

  it("deposits them into the new pool under the same seed, with nothing in common on chain", async () => {
    const [before, wallet] = [await open(old), await open(next)];
    // Both halves differ: the encryption key and the owner tag.
    const halves = (address: string) => [address.slice(2, 66), address.slice(66)];
    for (const half of halves(wallet.shieldedAddress)) expect(halves(before.shieldedAddress)).to.not.include(half);
    await deposit(wallet, next, [8_000_000n]);
    expect(wallet.balance().spendable).to.equal(8_000_000n);
    const [shownBefore, shownNow] = [await shownTags(old), await shownTags(next)];
    expect([shownBefore.length, shownNow.length]).to.deep.equal([2, 1]);
    for (const tag of shownNow) expect(shownBefore).to.not.include(tag);
  });

  it("makes payments in the new pool that are not valid in the old pool", async () => {
    const wallet = await open(next);
    await wallet.scan();
    const merchant = await Wallet.open({
      ...next,
      seed: seedFromWords(createSeedWords()),
      store: new MemoryStore(),
      finality: 0,
    });
    const recipient = { wallet: MERCHANT, shieldedAddress: merchant.shieldedAddress };
    const resourceUrl = "https://data.example/after-the-move";
    const payment = await wallet.pay({ recipient, amount: 1_250_000n, resourceUrl });
    const elsewhere = await sendCall(stranger, settleCall(old.pool, [payment.settle])).then(
      () => "settled",
      () => "refused",
    );
    expect(elsewhere).to.equal("refused");
    await sendCall(stranger, settleCall(next.pool, [payment.settle]));
    const viewing = await ViewingWallet.open({
      ...next,
      keys: merchant.viewingKeys({ lasting: true }),
      store: new MemoryStore(),
      finality: 0,
    });
    await viewing.scan();
    expect(viewing.total()).to.equal(1_250_000n);
  });
});
