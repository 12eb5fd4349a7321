// A node like Arbitrum's: gas includes what a transaction's data costs on the parent chain, and estimates and receipts show it.

import { clearOfMidnight } from "@sotto/test-kit/clock";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import { enqueue, Services } from "@sotto/test-world/relayer/service";
import { expect } from "chai";
import { Interface, Transaction, Wallet } from "ethers";

const ARB_GAS_INFO = "0x000000000000000000000000000000000000006c";
const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
const nodeInterface = new Interface([
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64, uint256, uint256)",
]);
/** Bytes that are charged in addition to the calldata. */
const OVERHEAD = 140;
const TRANSFER_GAS = 21_000n;

const quantity = (value: bigint): string => `0x${value.toString(16)}`;

describe("a relayer on a chain whose gas includes data", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  let proxy: CuttingProxy;
  let urls: string[];
  /** Gas for a byte, which follows the price on the parent chain. */
  let gasPerByte: bigint;
  /** All transactions that the relayer sent, oldest first. */
  let sent: Transaction[];
  const dataGas = (data: string): bigint => BigInt(OVERHEAD + data.length / 2 - 1) * gasPerByte;
  const addTo = (value: unknown, data: string): string => quantity(BigInt(value as string) + dataGas(data));

  before(async () => {
    chain = await TestChain.open();
  });
  beforeEach(async () => {
    services = new Services(chain);
    [gasPerByte, sent] = [1_000n, []];
    proxy = new CuttingProxy(chain.node.url);
    proxy.alter = (method, params, { result }) => {
      const [first] = params as [{ to?: string; data?: string } | string];
      const { to, data = "0x" } = Object(first) as { to?: string; data?: string };
      if (method === "eth_getCode" && first === ARB_GAS_INFO) return { result: "0xfe" };
      if (method === "eth_call" && to === NODE_INTERFACE) {
        const [, , asked] = nodeInterface.decodeFunctionData("gasEstimateL1Component", data);
        return {
          result: nodeInterface.encodeFunctionResult("gasEstimateL1Component", [dataGas(String(asked)), 1n, 1n]),
        };
      }
      if (method === "eth_estimateGas" && typeof result === "string") return { result: addTo(result, data) };
      if (method === "eth_sendRawTransaction") sent.push(Transaction.from(String(first)));
      if (method === "eth_getTransactionReceipt" && result) {
        const receipt = result as { gasUsed: string };
        const transaction = sent.find(({ hash }) => hash === first);
        return transaction && { result: { ...receipt, gasUsed: addTo(receipt.gasUsed, transaction.data) } };
      }
      return undefined;
    };
    urls = [await proxy.listen()];
  });
  afterEach(async () => {
    await services.stopAll();
    await proxy.close();
    await chain.automine(true);
  });

  it("counts the gas for data once in a day's cost", async () => {
    await clearOfMidnight();
    const { store, relayer } = await services.start({ urls });
    const { txHash } = await relayer.waitFor(await enqueue(store, await chain.payment()), WAIT);
    const { gasUsed, gasPrice } = (await chain.provider.getTransactionReceipt(txHash))!;
    const [{ data, gasLimit }] = sent as [Transaction];
    expect(gasLimit >= gasUsed + dataGas(data)).to.equal(true);
    await eventually(async () => (await store.gasToday()) === (gasUsed + dataGas(data)) * gasPrice);
  });

  it("sends a batch whose data takes more gas than the relayer permits for execution", async () => {
    const { store, relayer } = await services.start({
      urls,
      config: { maxGas: 2_000_000n, batchDelay: 10_000, maxBatch: 4 },
    });
    const payments = [];
    for (let i = 0; i < 4; i += 1) payments.push(await chain.payment());
    const ids = await Promise.all(payments.map((payment) => enqueue(store, payment)));
    const outcomes = await Promise.all(ids.map((id) => relayer.waitFor(id, WAIT)));
    expect(outcomes.map(({ state }) => state)).to.deep.equal(Array(4).fill("settled"));
    expect(sent).to.have.length(1);
    expect(dataGas(sent[0]!.data) > 2_000_000n).to.equal(true);
  });

  it("gives an append that cannot be estimated enough gas", async () => {
    const notes = Array.from({ length: 64 }, () => 20_000n);
    for (let i = 0; i < 2; i += 1) await chain.deposit(notes);
    await chain.automine(false);
    await services.start({ urls, config: { append: true, appendAfter: 0 } });
    await eventually(async () => sent.length === 2);
    for (const { data, gasLimit } of sent) expect(gasLimit >= dataGas(data) + 400_000n).to.equal(true);
    await chain.mine();
  });

  it("fills a gap in its nonces with a transaction that has enough gas", async () => {
    const { store, relayer } = await services.start({ urls, config: { rebroadcastAfter: 100 } });
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const signer = new Wallet(RELAYER_KEY, chain.provider);
    await (await signer.sendTransaction({ to: signer.address })).wait();
    const id = await enqueue(store, await chain.payment());
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    await chain.rpc("evm_revert", snapshot);
    await chain.mine(3);
    const filling = await eventually(async () => sent.find(({ data }) => data === "0x"));
    expect(filling.gasLimit >= TRANSFER_GAS + dataGas("0x")).to.equal(true);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });
});
