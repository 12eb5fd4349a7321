// Who plays: an agent and a merchant, with wallets; a relayer, with ETH.
import { createSeedWords, ethersChain, MemoryStore, seedFromWords, ViewingWallet, Wallet } from "@sotto/client";
import type { DeploymentManifest } from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import { Wallet as Account, Contract, type HDNodeWallet, type JsonRpcProvider, parseEther } from "ethers";
import { MINTED } from "./amounts.ts";

/** What the relayer begins with. */
export const RELAYER_ETHER = parseEther("10");

export interface Cast {
  readonly token: Contract;
  readonly relayerKey: string;
  /** The seed words are all the agent has to keep; the wallet is lost and restored on the way. */
  readonly agent: { readonly account: HDNodeWallet; readonly words: string; wallet: Wallet };
  /** The owner's wallet, and a server that holds nothing but the viewing key. */
  readonly merchant: { readonly account: HDNodeWallet; readonly wallet: Wallet; readonly server: ViewingWallet };
  /** A wallet on an empty store: what it knows comes from the seed and the chain. */
  openWallet(words: string): Promise<Wallet>;
}

/** Opens the wallets, gives the agent its dollars and the relayer its ETH. */
export async function createCast(
  provider: JsonRpcProvider,
  deployment: DeploymentManifest,
  prover: Prover,
): Promise<Cast> {
  const { chainId, pool, token, deploymentBlock } = deployment;
  const place = { chain: ethersChain(provider), chainId: BigInt(chainId), pool, token, deploymentBlock, finality: 0 };
  const openWallet = (words: string) =>
    Wallet.open({ ...place, seed: seedFromWords(words), store: new MemoryStore(), prover });
  const words = createSeedWords();
  const wallet = await openWallet(createSeedWords());
  const server = await ViewingWallet.open({ ...place, ...wallet.exportViewingKey(), store: new MemoryStore() });
  const agent = { account: Account.createRandom(), words, wallet: await openWallet(words) };
  const relayer = Account.createRandom();
  const funder = await provider.getSigner(0);
  const abi = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
  const dollar = new Contract(token, abi, funder);
  await (await dollar.getFunction("mint")(agent.account.address, MINTED)).wait();
  await (await funder.sendTransaction({ to: relayer.address, value: RELAYER_ETHER })).wait();
  const merchant = { account: Account.createRandom(), wallet, server };
  return { token: dollar, relayerKey: relayer.privateKey, agent, merchant, openWallet };
}
